//! Key pairs that sign JWTs.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{self, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
    RSA_PKCS1_SHA512,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

/// A key pair with an id.
pub(crate) struct Key {
    pub(crate) id: &'static str,
    pair: Pair,
}

enum Pair {
    Rsa(Box<rsa::KeyPair>),
    Ec(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

impl Key {
    pub(crate) fn rsa(id: &'static str) -> Self {
        Self { id, pair: Pair::Rsa(Box::new(rsa::KeyPair::generate(KeySize::Rsa2048).unwrap())) }
    }

    pub(crate) fn ec(id: &'static str) -> Self {
        Self { id, pair: Pair::Ec(EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap()) }
    }

    pub(crate) fn ed(id: &'static str) -> Self {
        Self { id, pair: Pair::Ed(Ed25519KeyPair::generate().unwrap()) }
    }

    pub(crate) fn algorithm(&self) -> &'static str {
        match self.pair {
            Pair::Rsa(_) => "RS256",
            Pair::Ec(_) => "ES256",
            Pair::Ed(_) => "EdDSA",
        }
    }

    /// The public key as an issuer publishes it.
    pub(crate) fn jwk(&self) -> Value {
        let mut jwk = match &self.pair {
            Pair::Rsa(pair) => {
                let public = pair.public_key();
                let (n, e) = (public.modulus(), public.exponent());
                json!({
                    "kty": "RSA",
                    "n": base64(n.big_endian_without_leading_zero()),
                    "e": base64(e.big_endian_without_leading_zero()),
                })
            }
            Pair::Ec(pair) => {
                let point = pair.public_key().as_ref();
                json!({"kty": "EC", "crv": "P-256", "x": base64(&point[1..33]), "y": base64(&point[33..])})
            }
            Pair::Ed(pair) => {
                json!({"kty": "OKP", "crv": "Ed25519", "x": base64(pair.public_key().as_ref())})
            }
        };
        jwk["kid"] = self.id.into();
        jwk["use"] = "sig".into();
        jwk
    }

    /// What a fool could take for a secret.
    pub(crate) fn public_bytes(&self) -> Vec<u8> {
        match &self.pair {
            Pair::Rsa(pair) => pair.public_key().as_ref().to_vec(),
            Pair::Ec(pair) => pair.public_key().as_ref().to_vec(),
            Pair::Ed(pair) => pair.public_key().as_ref().to_vec(),
        }
    }

    /// A JWT with these claims.
    pub(crate) fn jwt(&self, claims: &Value) -> String {
        self.jwt_with(&json!({"alg": self.algorithm(), "typ": "JWT", "kid": self.id}), claims)
    }

    /// A JWT with this header and these claims. By RSA it is signed as the header says, where that is possible.
    pub(crate) fn jwt_with(&self, header: &Value, claims: &Value) -> String {
        let signed = signing_input(header, claims);
        format!("{signed}.{}", base64(&self.sign(signed.as_bytes(), header["alg"] == "RS512")))
    }

    fn sign(&self, message: &[u8], long: bool) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.pair {
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                let padding = if long { &RSA_PKCS1_SHA512 } else { &RSA_PKCS1_SHA256 };
                pair.sign(padding, &random, message, &mut signature).unwrap();
                signature
            }
            Pair::Ec(pair) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Pair::Ed(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }
}

/// The first two parts of a JWT.
pub(crate) fn signing_input(header: &Value, claims: &Value) -> String {
    format!("{}.{}", base64(header.to_string().as_bytes()), base64(claims.to_string().as_bytes()))
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
