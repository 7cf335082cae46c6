//! Mutants of tokens and JWTs.

use super::{IDENTITY, Mutant};

/// The mutants of this file.
pub(super) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "token-compare",
        file: "crates/identity/src/tokens.rs",
        find: "bool::from(text.digest().ct_eq(expected))",
        replace: "true || bool::from(text.digest().ct_eq(expected))",
        tests: &[IDENTITY],
    },
    Mutant {
        name: "token-revoked",
        file: "crates/identity/src/tokens.rs",
        find: "if entry.revoked {",
        replace: "if false && entry.revoked {",
        tests: &[IDENTITY],
    },
    Mutant {
        name: "token-expiry",
        file: "crates/identity/src/tokens.rs",
        find: "if entry.pass.is_over() {",
        replace: "if false && entry.pass.is_over() {",
        tests: &[IDENTITY],
    },
    Mutant {
        name: "token-single",
        file: "crates/identity/src/identity.rs",
        find: "bool::from(single.hash.ct_eq(&hash))",
        replace: "true || bool::from(single.hash.ct_eq(&hash))",
        tests: &[IDENTITY],
    },
    Mutant {
        name: "pass-over",
        file: "crates/core/src/authenticator.rs",
        find: "self.hold.ended.is_cancelled() || self.left() == Some(0)",
        replace: "false && self.left() == Some(0)",
        tests: &[IDENTITY],
    },
    Mutant {
        name: "jwt-signature",
        file: "crates/identity/src/issuer.rs",
        find: "decode::<Claims>(jwt, &key.key, &only_signature)",
        replace: "jsonwebtoken::dangerous::insecure_decode::<Claims>(jwt)",
        tests: &[IDENTITY],
    },
    Mutant {
        name: "jwt-algorithm",
        file: "crates/identity/src/issuer.rs",
        find: "self.terms.algorithms.contains(&header.alg)",
        replace: "true || self.terms.algorithms.contains(&header.alg)",
        tests: &[IDENTITY],
    },
    Mutant {
        name: "jwt-kind",
        file: "crates/identity/src/issuer.rs",
        find: "(is_access && is_plain && is_allowed)",
        replace: "(is_plain && is_allowed)",
        tests: &[IDENTITY],
    },
    Mutant {
        name: "jwt-critical",
        file: "crates/identity/src/issuer.rs",
        find: "(is_access && is_plain && is_allowed)",
        replace: "(is_access && is_allowed)",
        tests: &[IDENTITY],
    },
    Mutant {
        name: "jwt-issuer",
        file: "crates/identity/src/issuer/claims.rs",
        find: r#"if claims.get("iss").and_then(Value::as_str) != Some(&terms.issuer) {"#,
        replace: r#"if false && claims.get("iss").and_then(Value::as_str) != Some(&terms.issuer) {"#,
        tests: &[IDENTITY],
    },
    Mutant {
        name: "jwt-expiry",
        file: "crates/identity/src/issuer/claims.rs",
        find: "if now_ms >= self.until_ms || now_ms < self.from_ms {",
        replace: "if now_ms < self.from_ms {",
        tests: &[IDENTITY],
    },
    Mutant {
        name: "jwt-not-before",
        file: "crates/identity/src/issuer/claims.rs",
        find: "if now_ms >= self.until_ms || now_ms < self.from_ms {",
        replace: "if now_ms >= self.until_ms {",
        tests: &[IDENTITY],
    },
    Mutant {
        name: "jwt-audience",
        file: "crates/identity/src/issuer/claims.rs",
        find: "if !self.everywhere && !profile.is_some_and(is_meant) {",
        replace: "if false && !self.everywhere && !profile.is_some_and(is_meant) {",
        tests: &[IDENTITY],
    },
    Mutant {
        name: "jwt-scope",
        file: "crates/identity/src/issuer/claims.rs",
        find: "if !self.has_scopes {",
        replace: "if false && !self.has_scopes {",
        tests: &[IDENTITY],
    },
];
