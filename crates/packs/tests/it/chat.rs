//! `chat_send` through the hub, to a server that plays Discord, Slack and Telegram.

use serde_json::{Value, json};
use toolgate_core::{Error, Hub, Kind};
use toolgate_host::Secret;
use toolgate_packs::Unready;
use toolgate_packs::chat::{Chat, ChatConfig, DiscordConfig, SlackConfig, TelegramConfig};

use crate::peer::{Answer, Peer, TOKEN, ask, cancelled_while_waiting, hub, json_answer, page};

fn config(url: &str) -> ChatConfig {
    let token = Some("{secret:BOT}".to_owned());
    ChatConfig {
        targets: vec!["*".into()],
        discord: DiscordConfig { token: token.clone(), base_url: format!("{url}/api/v10") },
        slack: SlackConfig { token: token.clone(), base_url: format!("{url}/api") },
        telegram: TelegramConfig { token, base_url: url.to_owned() },
        ..ChatConfig::default()
    }
}

fn chat(config: &ChatConfig) -> Result<Chat, Unready> {
    Chat::new(config, |text| {
        assert_eq!(text, "{secret:BOT}");
        Ok(Secret::new(TOKEN.into()))
    })
}

fn hub_at(peer: &Peer) -> Hub {
    hub(chat(&config(&peer.url)).unwrap())
}

fn discord_sent(id: u32) -> Answer {
    json_answer(
        200,
        &json!({"id": id.to_string(), "type": 0, "content": "x", "channel_id": "11", "flags": 4,
        "author": {"id": "9", "username": "bot", "bot": true}, "timestamp": "2026-07-28T09:30:00.000000+00:00"}),
    )
}

fn slack_sent(ts: &str) -> Answer {
    json_answer(
        200,
        &json!({"ok": true, "channel": "C012", "ts": ts, "message": {"type": "message", "text": "x", "ts": ts}}),
    )
}

fn slack_error(code: &str) -> Answer {
    json_answer(200, &json!({"ok": false, "error": code}))
}

fn telegram_sent(id: u32) -> Answer {
    json_answer(
        200,
        &json!({"ok": true, "result": {"message_id": id, "date": 1_785_000_000, "text": "x",
        "chat": {"id": -10042, "type": "supergroup"}}}),
    )
}

fn telegram_error(status: u16, description: &str, parameters: &Value) -> Answer {
    json_answer(
        status,
        &json!({"ok": false, "error_code": status, "description": description, "parameters": parameters}),
    )
}

fn to(provider: &str, target: &str, message: &str) -> Value {
    json!({"provider": provider, "target": target, "message": message})
}

#[tokio::test]
async fn a_channel_of_discord_is_written_to_without_calling_anyone() {
    let peer = Peer::start([discord_sent(501)]).await;
    let (sent, said) = ask(&hub_at(&peer), "chat_send", to("discord", "11", "hi @everyone")).await;
    assert_eq!(sent.unwrap(), json!({"provider": "discord", "target": "channel:11", "messages": ["501"]}));
    assert_eq!(said, Vec::<String>::new());
    let asked = &peer.asked()[0];
    assert_eq!(asked.line, "POST /api/v10/channels/11/messages");
    assert!(asked.has(&format!("authorization: Bot {TOKEN}")));
    let expect = json!({"content": "hi @everyone", "allowed_mentions": {"parse": []}, "flags": 4});
    assert_eq!(asked.body, expect);
}

#[tokio::test]
async fn a_user_of_discord_is_written_to_where_discord_says() {
    let opened = json_answer(200, &json!({"id": "77", "type": 1, "recipients": [{"id": "12"}]}));
    let peer = Peer::start([opened, discord_sent(502)]).await;
    let (sent, _) = ask(&hub_at(&peer), "chat_send", to("discord", "user:12", "hi")).await;
    assert_eq!(sent.unwrap()["messages"], json!(["502"]));
    assert_eq!(peer.asked()[0].body, json!({"recipient_id": "12"}));
    assert_eq!(peer.lines(), ["POST /api/v10/users/@me/channels", "POST /api/v10/channels/77/messages"]);

    let odd = json_answer(200, &json!({"id": "77/../../users/1"}));
    let peer = Peer::start([odd]).await;
    let (sent, _) = ask(&hub_at(&peer), "chat_send", to("discord", "user:12", "hi")).await;
    assert_eq!((sent.unwrap_err().kind(), peer.asked().len()), (Kind::Upstream, 1));
}

#[tokio::test]
async fn slack_gets_a_text_in_which_nothing_calls_anyone() {
    let peer = Peer::start([slack_sent("1.2")]).await;
    let (sent, _) = ask(&hub_at(&peer), "chat_send", to("slack", "user:U012", "<!channel> a & b")).await;
    assert_eq!(sent.unwrap(), json!({"provider": "slack", "target": "user:U012", "messages": ["1.2"]}));
    let asked = &peer.asked()[0];
    assert_eq!(asked.line, "POST /api/chat.postMessage");
    assert!(asked.has(&format!("authorization: Bearer {TOKEN}")));
    assert!(asked.has("content-type: application/json; charset=utf-8"));
    assert_eq!(asked.body["text"], "&lt;!channel&gt; a &amp; b");
    assert_eq!((&asked.body["channel"], &asked.body["unfurl_links"]), (&json!("U012"), &json!(false)));
}

#[tokio::test]
async fn telegram_gets_ids_as_numbers_and_names_as_text() {
    let peer = Peer::start([telegram_sent(5), telegram_sent(6)]).await;
    let hub = hub_at(&peer);
    let (sent, _) = ask(&hub, "chat_send", to("telegram", "-10042", "hi")).await;
    assert_eq!(sent.unwrap(), json!({"provider": "telegram", "target": "channel:-10042", "messages": ["5"]}));
    ask(&hub, "chat_send", to("telegram", "@news", "hi")).await.0.unwrap();
    let asked = peer.asked();
    assert_eq!(asked[0].line, format!("POST /bot{TOKEN}/sendMessage"));
    assert_eq!((&asked[0].body["chat_id"], &asked[1].body["chat_id"]), (&json!(-10042), &json!("@news")));
    assert_eq!(asked[0].body["link_preview_options"], json!({"is_disabled": true}));
}

#[tokio::test]
async fn a_long_text_goes_out_in_order_and_whole() {
    let peer = Peer::start([discord_sent(1), discord_sent(2), discord_sent(3)]).await;
    let code = "let grüße = \"😀\";\n".repeat(250);
    let message = format!("Look:\n```rust\n{code}```\n");
    let (sent, said) = ask(&hub_at(&peer), "chat_send", to("discord", "11", &message)).await;
    assert_eq!(sent.unwrap()["messages"], json!(["1", "2", "3"]));
    assert_eq!(said, ["part 1 of 3 is sent", "part 2 of 3 is sent", "part 3 of 3 is sent"]);
    let mut lines = 0;
    for asked in peer.asked() {
        let text = asked.body["content"].as_str().unwrap();
        assert!(text.encode_utf16().count() <= 2000);
        assert_eq!(text.matches("```").count(), 2, "{text}");
        lines += text.matches("let grüße = \"😀\";").count();
    }
    assert_eq!(lines, 250);
}

#[tokio::test]
async fn a_service_that_asks_to_wait_is_waited_for() {
    #[track_caller]
    fn check(said: &[String], name: &str) {
        assert_eq!(said, [format!("{name} asks to wait 1 s")]);
    }
    let limited = json_answer(
        429,
        &json!({"message": "You are being rate limited.", "retry_after": 0.05, "global": false}),
    );
    let peer = Peer::start([limited.header("retry-after", 1), discord_sent(1)]).await;
    let (sent, said) = ask(&hub_at(&peer), "chat_send", to("discord", "11", "hi")).await;
    assert_eq!(sent.unwrap()["messages"], json!(["1"]));
    check(&said, "Discord");

    let limited = slack_error("ratelimited");
    let Answer::Whole { kind, body, .. } = limited else { panic!() };
    let limited = Answer::Whole { status: 429, headers: Vec::new(), kind, body }.header("retry-after", 1);
    let peer = Peer::start([limited, slack_sent("1.2")]).await;
    let (sent, said) = ask(&hub_at(&peer), "chat_send", to("slack", "C012", "hi")).await;
    assert_eq!(sent.unwrap()["messages"], json!(["1.2"]));
    check(&said, "Slack");

    let limited = telegram_error(429, "Too Many Requests: retry after 1", &json!({"retry_after": 1}));
    let peer = Peer::start([limited, telegram_sent(5)]).await;
    let (sent, said) = ask(&hub_at(&peer), "chat_send", to("telegram", "42", "hi")).await;
    assert_eq!(sent.unwrap()["messages"], json!(["5"]));
    check(&said, "Telegram");
    assert_eq!(peer.asked().len(), 2);
}

#[tokio::test]
async fn waiting_has_an_end() {
    let limited = |seconds: f64| json_answer(429, &json!({"message": "limited", "retry_after": seconds}));
    let peer = Peer::start([limited(3600.0)]).await;
    let (sent, _) = ask(&hub_at(&peer), "chat_send", to("discord", "11", "hi")).await;
    let error = sent.unwrap_err();
    assert_eq!((error.kind(), error.next_step()), (Kind::RateLimited, Some("try again in 60 min")));
    assert_eq!(peer.asked().len(), 1);

    let peer = Peer::start(vec![limited(0.0); 20]).await;
    let (sent, said) = ask(&hub_at(&peer), "chat_send", to("discord", "11", "hi")).await;
    assert_eq!((sent.unwrap_err().kind(), peer.asked().len(), said.len()), (Kind::RateLimited, 6, 5));

    for odd in [-1.0, 1e300] {
        let peer = Peer::start([limited(odd), discord_sent(1)]).await;
        let (sent, _) = ask(&hub_at(&peer), "chat_send", to("discord", "11", "hi")).await;
        assert_eq!(sent.unwrap()["messages"], json!(["1"]), "{odd}");
    }
}

#[tokio::test]
async fn a_wait_ends_when_the_call_is_cancelled() {
    let limited = json_answer(429, &json!({"message": "limited", "retry_after": 29.0}));
    let peer = Peer::start([limited]).await;
    let error = cancelled_while_waiting(&hub_at(&peer), "chat_send", to("discord", "11", "hi")).await;
    assert_eq!((error.kind(), peer.asked().len()), (Kind::Cancelled, 1));
}

/// What comes of sending three parts, if the answers are these.
async fn three_parts(answers: Vec<Answer>) -> Error {
    let peer = Peer::start(answers).await;
    let message =
        format!("{}first end\n{}second end\n{}", "a ".repeat(980), "b ".repeat(980), "c ".repeat(900));
    let (sent, _) = ask(&hub_at(&peer), "chat_send", to("discord", "11", &message)).await;
    sent.unwrap_err()
}

#[tokio::test]
async fn what_went_out_in_part_is_told_truthfully() {
    let error = three_parts(vec![
        discord_sent(1),
        json_answer(403, &json!({"message": "Missing Access", "code": 50001})),
    ])
    .await;
    let expect =
        "part 1 of 3 was sent, part 2 was not sent: Discord does not let the bot write there: Missing Access";
    assert_eq!((error.kind(), error.message()), (Kind::Denied, expect));
    let hint = error.next_step().unwrap();
    assert!(hint.starts_with("do not send the whole again") && hint.ends_with("first end`"), "{hint}");

    let error = three_parts(vec![discord_sent(1), discord_sent(2), json_answer(502, &json!({}))]).await;
    let expect = "parts 1 to 2 of 3 were sent, part 3 may have been sent or not: Discord answered 502";
    // Not of a kind that says to do the same again.
    assert_eq!((error.kind(), error.message(), error.kind().retryable()), (Kind::Upstream, expect, false));

    let limited = json_answer(429, &json!({"message": "limited", "retry_after": 999}));
    let error = three_parts(vec![discord_sent(1), limited]).await;
    assert!(error.message().starts_with("part 1 of 3 was sent, part 2 was not sent: "), "{error}");
    assert!(!error.kind().retryable());

    let error = three_parts(vec![Answer::CutOff]).await;
    assert!(
        error.message().starts_with("part 1 of 3 may have been sent or not, the others were not: "),
        "{error}"
    );
}

#[track_caller]
fn check_error(error: &Error, kind: Kind, message: &str) {
    assert_eq!((error.kind(), error.message()), (kind, message));
}

async fn refused(provider: &str, target: &str, answer: Answer) -> Error {
    let peer = Peer::start([answer]).await;
    let (sent, _) = ask(&hub_at(&peer), "chat_send", to(provider, target, "hi")).await;
    assert_eq!(peer.asked().len(), 1, "nothing is tried again");
    sent.unwrap_err()
}

#[tokio::test]
async fn refusals_of_discord_are_put_in_words() {
    let said = |status, message: &str| json_answer(status, &json!({"message": message, "code": 0}));
    let error = refused("discord", "1", said(401, "401: Unauthorized")).await;
    check_error(&error, Kind::Unauthorized, "Discord does not accept the token");
    let error = refused("discord", "1", said(404, "Unknown Channel")).await;
    check_error(&error, Kind::NotFound, "Discord does not know the target: Unknown Channel");
    let error = refused("discord", "1", said(400, &format!("bad {TOKEN}\nhere"))).await;
    check_error(&error, Kind::InvalidInput, "Discord does not take the message: bad [token] here");
    let error = refused("discord", "1", page(200)).await;
    assert_eq!(error.kind(), Kind::Upstream);
    assert!(error.message().starts_with("the message may have been sent or not: "), "{error}");
    let error = refused("discord", "1", page(302).header("location", "http://127.0.0.1:1/")).await;
    check_error(&error, Kind::Upstream, "Discord answered 302 with something else than it should");
}

#[tokio::test]
async fn refusals_of_slack_are_put_in_words() {
    let error = refused("slack", "C012", slack_error("invalid_auth")).await;
    check_error(&error, Kind::Unauthorized, "Slack does not accept the token");
    let error = refused("slack", "C012", slack_error("channel_not_found")).await;
    check_error(&error, Kind::NotFound, "Slack does not know the target: channel_not_found");
    let error = refused("slack", "C012", slack_error("is_archived")).await;
    check_error(&error, Kind::Denied, "Slack does not let the bot write there: is_archived");
    let error = refused("slack", "C012", slack_error("internal_error")).await;
    assert_eq!((error.kind(), error.kind().retryable()), (Kind::Upstream, false));
    let error = refused("slack", "C012", page(500)).await;
    check_error(&error, Kind::Upstream, "the message may have been sent or not: Slack answered 500");
}

#[tokio::test]
async fn refusals_of_telegram_are_put_in_words() {
    let none = json!({});
    let error = refused("telegram", "42", telegram_error(401, "Unauthorized", &none)).await;
    check_error(&error, Kind::Unauthorized, "Telegram does not accept the token");
    let error = refused("telegram", "42", telegram_error(404, "Not Found", &none)).await;
    check_error(&error, Kind::Unauthorized, "Telegram does not accept the token");
    let error = refused("telegram", "42", telegram_error(400, "Bad Request: chat not found", &none)).await;
    check_error(&error, Kind::NotFound, "Telegram does not know the target: Bad Request: chat not found");
    let error =
        refused("telegram", "42", telegram_error(403, "Forbidden: bot was blocked by the user", &none)).await;
    assert_eq!(error.kind(), Kind::Denied);
    let moved =
        telegram_error(400, "Bad Request: group chat was upgraded", &json!({"migrate_to_chat_id": -10_077}));
    let error = refused("telegram", "-42", moved).await;
    assert_eq!((error.kind(), error.next_step()), (Kind::NotFound, Some("send to `channel:-10077`")));
}

#[tokio::test]
async fn a_service_that_cannot_be_reached_does_not_show_the_token() {
    let nobody = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", free.local_addr().unwrap())
    };
    let gone = hub(chat(&config(&nobody)).unwrap());
    let (sent, _) = ask(&gone, "chat_send", to("telegram", "42", "hi")).await;
    check_error(&sent.unwrap_err(), Kind::ConnectionFailed, "Telegram could not be reached");
}

#[tokio::test]
async fn whatever_service_fails_it_is_told_how_and_nothing_is_sent_twice() {
    async fn check(name: &str, provider: &str, target: &str) {
        let unsure = "the message may have been sent or not: ";
        let strange = format!("{unsure}{name} answered 200 with something else than it should");
        let nowhere = match provider {
            // Its token is a part of the address.
            "telegram" => (Kind::Unauthorized, format!("{name} does not accept the token")),
            _ => (Kind::NotFound, format!("{name} does not know the target")),
        };
        let mut mislabelled =
            json_answer(200, &json!({"ok": true, "id": "1", "ts": "1", "result": {"message_id": 1}}));
        let Answer::Whole { kind, .. } = &mut mislabelled else { panic!() };
        *kind = "text/plain";
        for (answer, (kind, message)) in [
            (page(401), (Kind::Unauthorized, format!("{name} does not accept the token"))),
            (page(404), nowhere),
            (page(500), (Kind::Upstream, format!("{unsure}{name} answered 500"))),
            (page(200), (Kind::Upstream, strange.clone())),
            (mislabelled, (Kind::Upstream, strange)),
            (Answer::CutOff, (Kind::Upstream, format!("{unsure}{name} broke off its answer"))),
            (Answer::Silence, (Kind::Upstream, format!("{unsure}{name} did not answer in time"))),
        ] {
            check_error(&refused(provider, target, answer).await, kind, &message);
        }
    }
    // All at once, since each waits for what never comes.
    tokio::join!(
        check("Discord", "discord", "11"),
        check("Slack", "slack", "C012"),
        check("Telegram", "telegram", "42"),
    );
}

#[tokio::test]
async fn nobody_is_written_to_who_is_not_listed() {
    let peer = Peer::start([]).await;
    let targets = ["discord:channel:11", "slack:user:*"].map(str::to_owned).to_vec();
    let hub = hub(chat(&ChatConfig { targets, ..config(&peer.url) }).unwrap());
    for (provider, target, kind) in [
        ("discord", "12", Kind::Denied),
        ("discord", "user:11", Kind::Denied),
        ("slack", "C012", Kind::Denied),
        ("slack", "user:C012", Kind::InvalidInput),
        ("telegram", "42", Kind::Denied),
        ("discord", "11/../12", Kind::InvalidInput),
        ("discord", "", Kind::InvalidInput),
    ] {
        let (sent, _) = ask(&hub, "chat_send", to(provider, target, "hi")).await;
        assert_eq!(sent.unwrap_err().kind(), kind, "{provider} {target}");
    }
    assert_eq!(peer.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused_before_anything_is() {
    let peer = Peer::start([]).await;
    let slack = DiscordConfig::default();
    let hub = hub(chat(&ChatConfig { max_parts: 2, discord: slack, ..config(&peer.url) }).unwrap());
    for (input, message) in [
        (to("slack", "C012", " \n"), "`message` is empty"),
        (to("slack", "C012", &"x".repeat(9000)), "`message` is 3 messages long; 2 are allowed"),
        (to("discord", "11", "hi"), "the provider `discord` is not configured"),
    ] {
        let (sent, _) = ask(&hub, "chat_send", input).await;
        check_error(&sent.unwrap_err(), Kind::InvalidInput, message);
    }
    let (sent, _) = ask(&hub, "chat_send", to("irc", "x", "hi")).await;
    assert_eq!(sent.unwrap_err().kind(), Kind::InvalidInput);
    assert_eq!(peer.lines(), Vec::<String>::new());
}

#[test]
fn a_configuration_says_what_it_lacks_and_what_is_wrong() {
    let here = "http://127.0.0.1:1";
    let error = Chat::new(&ChatConfig::default(), |_| panic!("there is nothing to fill")).unwrap_err();
    assert!(matches!(&error, Unready::Needs(needs) if needs.contains("`chat.slack.token`")), "{error}");
    let error = chat(&ChatConfig { targets: Vec::new(), ..config(here) }).unwrap_err();
    assert!(matches!(&error, Unready::Needs(needs) if needs.contains("`chat.targets`")), "{error}");
    let error = Chat::new(&config(here), |_| Err("the secret `BOT` is not stored".into())).unwrap_err();
    assert!(matches!(&error, Unready::Needs(needs) if needs == "the secret `BOT` is not stored"), "{error}");
    let error = chat(&ChatConfig { targets: vec!["slack".into()], ..config(here) }).unwrap_err();
    assert!(matches!(&error, Unready::Wrong { key, .. } if key == "chat.targets"), "{error}");
    let error = chat(&config("http://chat.example")).unwrap_err();
    assert!(matches!(&error, Unready::Wrong { key, .. } if key == "chat.discord.base_url"), "{error}");
}
