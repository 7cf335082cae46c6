//! One sign-in of a person: an address to open, and the answer that comes back.

use std::sync::Arc;

use tokio::net::TcpListener;
use url::Url;

use super::discovery::{Found, is_same_issuer};
use super::error::{OauthError, OauthReason};
use super::keeper::Keeper;
use super::store::{Client, Record};
use super::token;
use super::{Authorizer, Holder, callback, pkce};
use crate::fault::short;

/// One sign-in of a person. It ends when it is dropped.
pub struct Login {
    authorizer: Arc<Authorizer>,
    keeper: Arc<Keeper>,
    url: Url,
    redirect: Url,
    listener: TcpListener,
    state: String,
    verifier: String,
    found: Found,
    client: Client,
    scope: Option<String>,
}

/// What came back.
struct Answer {
    code: Option<String>,
    state: Option<String>,
    issuer: Option<String>,
    error: Option<String>,
    description: Option<String>,
}

impl Authorizer {
    /// Begins a sign-in: finds out where, registers if need be, and listens for the answer.
    ///
    /// # Errors
    /// The server trusts nobody who can be trusted, nobody lets us register, or nothing can be reached.
    pub async fn begin(self: &Arc<Self>, holder: Holder) -> Result<Login, OauthError> {
        if !self.needs_person() {
            return Err(OauthError::new(
                OauthReason::Denied,
                format!("`{}` is signed in to by the machine itself", self.server),
                "there is nothing to do",
            ));
        }
        let keeper = self.keeper(holder);
        let record = self.reload(&keeper).await?.record.clone();
        let found = self.discover().await?;
        let Some(auth_url) = found.authority.auth_url.clone() else {
            return Err(OauthError::new(
                OauthReason::Untrusted,
                format!("the authorization server of `{}` signs no person in", self.server),
                format!("set `mcp.{}.oauth.grant = \"client_credentials\"` for a machine", self.server),
            ));
        };
        self.check_bond(&found.authority).await?;
        self.applicant(&found).can()?;
        let (listener, redirect) = self.listen(record.registered.as_ref()).await?;
        let client = self.applicant(&found).client(record.registered.as_ref(), &redirect).await?;
        let scope = self.scope(&record, &found);
        let (state, verifier) = (pkce::random_word()?, pkce::random_word()?);
        let mut url = auth_url;
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &client.id)
            .append_pair("redirect_uri", redirect.as_str())
            .append_pair("state", &state)
            .append_pair("code_challenge", &pkce::challenge(&verifier))
            .append_pair("code_challenge_method", "S256")
            .append_pair("resource", &found.resource);
        if let Some(scope) = &scope {
            url.query_pairs_mut().append_pair("scope", scope);
            // Without it some do not give what renews a token.
            if scope.split_whitespace().any(|word| word == "offline_access") {
                url.query_pairs_mut().append_pair("prompt", "consent");
            }
        }
        Ok(Login {
            authorizer: self.clone(),
            keeper,
            url,
            redirect,
            listener,
            state,
            verifier,
            found,
            client,
            scope,
        })
    }

    /// Listens where we may be answered: at the port that is configured, at the one that we registered with if it is
    /// free, or at any.
    async fn listen(&self, registered: Option<&Client>) -> Result<(TcpListener, Url), OauthError> {
        let here = |port: u16| async move { TcpListener::bind(("127.0.0.1", port)).await };
        let failed = |port: u16, error: std::io::Error| {
            OauthError::new(
                OauthReason::Unavailable,
                format!("port {port} of this machine cannot be used: {error}"),
                format!("set another `mcp.{}.oauth.callback_port`", self.server),
            )
        };
        let listener = match self.plan.callback_port {
            Some(port) => here(port).await.map_err(|error| failed(port, error))?,
            None => {
                let before = registered.and_then(|client| client.redirect_uri.as_deref());
                let before = before.and_then(|url| Url::parse(url).ok()).and_then(|url| url.port());
                match here(before.unwrap_or(0)).await {
                    Ok(listener) => listener,
                    Err(_) => here(0).await.map_err(|error| failed(0, error))?,
                }
            }
        };
        let port = listener.local_addr().map_err(|error| failed(0, error))?.port();
        let redirect = Url::parse(&format!("http://127.0.0.1:{port}{}", callback::PATH));
        redirect
            .map(|redirect| (listener, redirect))
            .map_err(|error| OauthError::unavailable(error.to_string()))
    }
}

impl Login {
    /// What the person has to open.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Where the browser is sent when the person has agreed.
    pub fn redirect(&self) -> &Url {
        &self.redirect
    }

    /// Waits until the browser brings the answer, and ends the sign-in with it.
    ///
    /// # Errors
    /// The person or the authorization server said no, or the answer cannot be trusted.
    pub async fn wait(&self) -> Result<(), OauthError> {
        callback::visits(&self.listener, &self.redirect, |target: Url| async move {
            let answer = Answer::read(&target);
            // Anyone on this machine can come here; only the one we wait for knows the word.
            if answer.state.as_deref() != Some(&*self.state) {
                return None;
            }
            Some(self.complete(answer).await)
        })
        .await
    }

    /// Ends the sign-in with what a person pasted: the whole address that the browser came to, or the code alone.
    ///
    /// # Errors
    /// As [`Login::wait`], or this is not the answer to this sign-in.
    pub async fn finish(&self, pasted: &str) -> Result<(), OauthError> {
        let pasted = pasted.trim();
        let answer = match Url::parse(pasted) {
            Ok(url) => Answer::read(&url),
            Err(_) if pasted.contains('=') => {
                let mut url = self.redirect.clone();
                url.set_query(Some(pasted.trim_start_matches('?')));
                Answer::read(&url)
            }
            Err(_) if pasted.is_empty() => return Err(OauthError::wrong_answer("nothing was pasted")),
            // Whose code it is, the verifier decides; who gave it, only the whole address says.
            Err(_) if self.found.authority.names_itself => {
                return Err(OauthError::wrong_answer("a code alone does not say who gave it"));
            }
            Err(_) => Answer {
                code: Some(pasted.to_owned()),
                state: Some(self.state.clone()),
                issuer: None,
                error: None,
                description: None,
            },
        };
        if answer.state.as_deref() != Some(&*self.state) {
            return Err(OauthError::wrong_answer("this is not the answer to the sign-in under way"));
        }
        self.complete(answer).await
    }

    async fn complete(&self, answer: Answer) -> Result<(), OauthError> {
        self.check_issuer(answer.issuer.as_deref())?;
        if let Some(error) = answer.error {
            let said = answer.description.map_or_else(|| short(&error), |text| short(&text));
            return Err(OauthError::new(
                OauthReason::Denied,
                format!("the sign-in was refused ({said})"),
                "begin it anew, and agree to what is asked",
            ));
        }
        let Some(code) = answer.code else {
            return Err(OauthError::wrong_answer("the answer holds no code"));
        };
        let bond = self.authorizer.bind(&self.found.authority).await?;
        let url = self.found.authority.token_url.to_string();
        let form = [
            ("grant_type", "authorization_code"),
            ("code", &*code),
            ("redirect_uri", self.redirect.as_str()),
            ("code_verifier", &*self.verifier),
            ("resource", &*self.found.resource),
        ];
        let given = token::ask(&self.authorizer.ways, &url, &self.client, &form).await;
        let given = given.map_err(|refused| self.authorizer.blame(refused, &self.client))?;
        let tokens = self.authorizer.tokens(&self.found, self.client.clone(), given, self.scope.clone());
        // Only what registered itself may be used again.
        let registered = self.client.redirect_uri.is_some().then(|| self.client.clone());
        let record = Record { url: String::new(), registered, bond, tokens: Some(tokens), wanted: None };
        self.keeper.doubted.store(false, std::sync::atomic::Ordering::Relaxed);
        self.authorizer.keep(&self.keeper, record).await
    }

    /// Whether the answer comes from the authorization server that was asked (RFC 9207).
    fn check_issuer(&self, named: Option<&str>) -> Result<(), OauthError> {
        let authority = &self.found.authority;
        let configured = self.authorizer.plan.token_url.is_some();
        match (named, &authority.issuer) {
            (Some(named), Some(issuer)) if named == issuer => Ok(()),
            // What a person wrote may lack the last slash.
            (Some(named), Some(issuer)) if configured && is_same_issuer(named, issuer) => Ok(()),
            (None, _) if !authority.names_itself => Ok(()),
            (Some(_), None) if configured => Ok(()),
            (Some(named), _) => Err(OauthError::untrusted(format!(
                "the answer comes from `{}`, which was not asked",
                short(named)
            ))),
            (None, _) => Err(OauthError::untrusted("the answer does not say who gave it")),
        }
    }
}

impl Answer {
    fn read(url: &Url) -> Self {
        let get =
            |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        Self {
            code: get("code").filter(|code| !code.is_empty()),
            state: get("state"),
            issuer: get("iss"),
            error: get("error"),
            description: get("error_description"),
        }
    }
}
