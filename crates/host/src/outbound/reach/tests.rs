//! Rules, and what may be reached by them.

use super::*;

fn rules(texts: &[&str]) -> Vec<HostRule> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[track_caller]
fn check(allow: &[&str], deny: &[&str], url: &str, expect: Result<(), Barred>) {
    let reach = Reach { allow: rules(allow), deny: rules(deny) };
    assert_eq!(reach.permits(&Url::parse(url).unwrap()), expect, "{url} with {allow:?} but {deny:?}");
}

#[test]
fn no_form_of_a_near_address_is_reached() {
    for near in [
        "http://127.0.0.1/",
        "http://127.8.9.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://017700000001/",
        "http://0/",
        "http://0.0.0.0/",
        "http://10.0.0.1/",
        "http://172.31.255.255/",
        "http://192.168.0.1/",
        "http://100.100.100.200/",
        "http://169.254.169.254/latest/meta-data/",
        "http://2852039166/",
        "http://[::1]/",
        "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[::ffff:0:127.0.0.1]/",
        "http://[::127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[64:ff9b:1::7f00:1]/",
        "http://[2002:a9fe:a9fe::]/",
        "http://[2001:0:1::1]/",
        "http://[fd00:ec2::254]/",
        "http://[fe80::1]/",
        "http://[fd00::5efe:808:808]/",
        "http://[ff02::1]/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://①②⑦.⓪.⓪.①/",
    ] {
        check(&[], &[], near, Err(Barred::TooNear));
    }
    check(&[], &[], "http://93.184.216.34/", Ok(()));
    check(&[], &[], "http://[2606:2800:220:1::1]/", Ok(()));
    check(&[], &[], "http://[64:ff9b::5db8:d822]/", Ok(()));
}

#[test]
fn what_is_listed_is_reached_and_no_more() {
    check(&["127.0.0.1"], &[], "http://127.0.0.1:8080/", Ok(()));
    check(&["127.0.0.1"], &[], "http://2130706433/", Ok(()));
    check(&["127.0.0.1"], &[], "http://[::ffff:127.0.0.1]/", Ok(()));
    check(&["127.0.0.1"], &[], "http://127.0.0.2/", Err(Barred::TooNear));
    check(&["10.0.0.0/8"], &[], "http://10.200.3.4/", Ok(()));
    check(&["10.0.0.0/8"], &[], "http://11.0.0.1/", Ok(()));
    check(&["10.0.0.0/8"], &[], "http://192.168.0.1/", Err(Barred::TooNear));
    check(&["[::1]"], &[], "http://[::1]/", Ok(()));
    check(&["fd00::/8"], &[], "http://[fd12::1]/", Ok(()));
    check(&["169.254.169.254"], &[], "http://169.254.169.254/", Ok(()));
}

#[test]
fn what_is_denied_is_not_reached_whatever_is_listed() {
    let denied = Err(Barred::Denied);
    check(&[], &["example.com"], "https://example.com/", denied);
    check(&[], &["example.com"], "https://EXAMPLE.com./", denied);
    check(&[], &["example.com"], "https://www.example.com/", Ok(()));
    check(&[], &["*.example.com"], "https://a.b.example.com/", denied);
    check(&[], &["*.example.com"], "https://example.com/", Ok(()));
    check(&[], &["*.example.com"], "https://badexample.com/", Ok(()));
    check(&["example.com"], &["example.com"], "https://example.com/", denied);
    check(&[], &["93.184.216.0/24"], "https://93.184.216.34/", denied);
    check(&["docs.rs"], &["*"], "https://docs.rs/", Ok(()));
    check(&["docs.rs"], &["*"], "https://example.com/", denied);
    check(&["docs.rs"], &["*"], "https://93.184.216.34/", denied);
    check(&[], &["bücher.example"], "https://xn--bcher-kva.example/", denied);
}

#[test]
fn what_is_no_host_is_no_rule() {
    for bad in
        ["", "a b", "http://example.com", "10.0.0.0/33", "10.0.0/8", "*.", "*.10.0.0.1", "a/b", "2130706433"]
    {
        assert_eq!(bad.parse::<HostRule>(), Err(BadHostRule(bad.into())), "{bad}");
    }
    assert_eq!("*.Example.com".parse::<HostRule>().unwrap().to_string(), "*.Example.com");
}

/// Says of every name what it is told to.
#[derive(Debug)]
struct Saying(Vec<SocketAddr>);

impl Lookup for Saying {
    fn look_up(&self, _: String) -> crate::outbound::LookingUp {
        let says = self.0.clone();
        Box::pin(async move { Ok(says) })
    }
}

#[tokio::test]
async fn of_the_addresses_of_a_name_only_those_that_fit_are_connected_to() {
    async fn check(allow: &[&str], deny: &[&str], at: &[&str], expect: Result<&[&str], Barred>) {
        let parsed = |texts: &[&str]| -> Vec<SocketAddr> {
            texts.iter().map(|ip| SocketAddr::new(ip.parse().unwrap(), 0)).collect()
        };
        let reach = Arc::new(Reach { allow: rules(allow), deny: rules(deny) });
        let resolver = Resolver { reach, lookup: Arc::new(Saying(parsed(at))) };
        let found = resolver.resolve("host.example".parse().unwrap()).await;
        let found = found.map(Iterator::collect::<Vec<_>>).map_err(|why| *why.downcast_ref().unwrap());
        assert_eq!(found, expect.map(parsed), "{at:?} with {allow:?} but {deny:?}");
    }
    let public = "93.184.216.34";
    check(&[], &[], &[public], Ok(&[public])).await;
    check(&[], &[], &["127.0.0.1", public, "::1", "10.0.0.1"], Ok(&[public])).await;
    check(&[], &[], &["127.0.0.1", "::ffff:10.0.0.1"], Err(Barred::TooNear)).await;
    check(&["host.example"], &[], &["127.0.0.1", "10.0.0.1"], Ok(&["127.0.0.1", "10.0.0.1"])).await;
    check(&["host.example"], &[], &["169.254.169.254"], Err(Barred::TooNear)).await;
    check(&["10.0.0.0/8"], &[], &["127.0.0.1", "10.0.0.1"], Ok(&["10.0.0.1"])).await;
    check(&[], &["host.example"], &[public], Err(Barred::Denied)).await;
    check(&["host.example"], &["10.0.0.0/8"], &["10.0.0.1"], Err(Barred::Denied)).await;
    check(&[], &["*"], &[public], Err(Barred::Denied)).await;
    check(&["host.example"], &["*"], &[public], Ok(&[public])).await;
}
