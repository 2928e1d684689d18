import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import * as UrlPolicy from "../../src/discovery/UrlPolicy.js"

const server = (url: string, privateHosts: ReadonlyArray<string> = []): UrlPolicy.UrlPolicy => ({
  server: new URL(url),
  chosen: [],
  privateHosts
})

const isUsed = (policy: UrlPolicy.UrlPolicy, url: string) =>
  Either.isRight(UrlPolicy.check(policy, "the endpoint", url))

const remote = server("https://mcp.example.com/mcp")

const privateAddresses = [
  "https://localhost/",
  "https://LOCALHOST./",
  "https://a.localhost/",
  "https://127.0.0.1/",
  "https://127.1/",
  "https://2130706433/",
  "https://0x7f000001/",
  "https://0177.0.0.1/",
  "https://0/",
  "https://10.1.2.3/",
  "https://100.64.0.1/",
  "https://169.254.169.254/latest/meta-data",
  "https://172.16.0.1/",
  "https://172.31.255.255/",
  "https://192.168.1.1/",
  "https://192.0.2.1/",
  "https://198.18.0.1/",
  "https://198.51.100.7/",
  "https://203.0.113.7/",
  "https://224.0.0.1/",
  "https://255.255.255.255/",
  "https://[::1]/",
  "https://[::]/",
  "https://[::ffff:169.254.169.254]/",
  "https://[::ffff:a9fe:a9fe]/",
  "https://[::127.0.0.1]/",
  "https://[64:ff9b::a9fe:a9fe]/",
  "https://[64:ff9b:1::1]/",
  "https://[2002:a9fe:a9fe::1]/",
  "https://[2001::1]/",
  "https://[2001:db8::1]/",
  "https://[fc00::1]/",
  "https://[fd00:ec2::254]/",
  "https://[fe80::1]/",
  "https://[fec0::1]/",
  "https://[ff02::1]/",
  "https://intranet/",
  "https://printer.local/",
  "https://printer.local../",
  "https://metadata.google.internal/",
  "https://metadata.google.internal./",
  "https://router.home.arpa/",
  "https://kubernetes.default.svc/",
  "https://db.localdomain/",
  "https://①②⑦.0.0.1/",
  "https://168.63.129.16/machine",
  "https://0xa83f8110/",
  "https://[::ffff:168.63.129.16]/",
  "https://[64:ff9b::168.63.129.16]/",
  "https://192.88.99.1/",
  "https://192.31.196.1/",
  "https://192.52.193.1/",
  "https://192.175.48.1/",
  "https://192.0.0.192/",
  "https://100.100.100.200/",
  "https://240.0.0.1/",
  "https://[100::1]/",
  "https://[5f00::1]/",
  "https://[2620:4f:8000::1]/",
  "https://[2001:20::1]/",
  "https://[3fff::1]/",
  "https://[2606:4700::5efe:10.0.0.1]/",
  "https://[2606:4700::200:5efe:10.0.0.1]/",
  "https://vault.service.consul/",
  "https://vault.service.consul./",
  "https://login.test/",
  "https://login.example/",
  "https://login.invalid/",
  "https://login.onion/",
  "https://login.alt/",
  "https://1.0.0.10.in-addr.arpa/",
  "https://login.private/",
  "https://app.marathon.mesos/"
]

const never = [
  "http://auth.example.com/",
  "http://169.254.169.254/",
  "ftp://auth.example.com/",
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  " javascript:alert(1)",
  "\u0001javascript:alert(1)",
  "\tjavascript:alert(1)",
  "java\nscript:alert(1)",
  "data:text/html,x",
  "file:///etc/passwd",
  "vbscript:x",
  "blob:https://a.test/1",
  "intent://a#Intent;end",
  "//auth.example.com/",
  "/authorize",
  "",
  "https://",
  "https://user:secret@auth.example.com/",
  "https://auth.example.com/#fragment",
  "https://auth.example.com\\@evil.test/",
  "https://auth.example.com/\r\nX: y",
  `https://auth.example.com/${"a".repeat(5000)}`
]

describe("A URL that a server names", () => {
  for (const url of privateAddresses) {
    it(`SHOULD NOT be requested when it is a private address: ${url}`, () => {
      assert.isFalse(isUsed(remote, url))
      assert.isTrue(isUsed(server("https://mcp.example.com/mcp", [new URL(url).hostname]), url))
    })
  }

  for (const url of never) {
    it(
      `MUST be rejected when it is neither https nor http on this machine: ${JSON.stringify(url)}`.slice(
        0,
        160
      ),
      () => {
        for (const policy of [remote, server("http://localhost:3000/mcp", ["169.254.169.254"])]) {
          assert.isFalse(isUsed(policy, url))
        }
        assert.isTrue(Either.isLeft(UrlPolicy.browsable("the endpoint", url)))
      }
    )
  }

  it("is used when it is public", () => {
    const urls = [
      "https://auth.example.com/t1?x=1",
      "https://8.8.8.8/",
      "https://[2606:4700::1111]/",
      "https://172.32.0.1/",
      "https://168.63.129.17/",
      "https://192.88.98.1/",
      "https://[2620:4f:8001::1]/",
      "https://[2606:4700::5efe:8.8.8.8]/",
      "https://test.example.com/",
      "https://login.contest.com/",
      "https://consul.io/"
    ]
    for (const url of urls) assert.isTrue(isUsed(remote, url), url)
  })

  it("may be on the host that the application has chosen, also when that is private", () => {
    assert.isTrue(isUsed(server("https://10.0.0.5/mcp"), "https://10.0.0.5:8443/token"))
    assert.isTrue(isUsed(server("https://169.254.1.1/mcp"), "https://169.254.1.1/token"))
    assert.isTrue(isUsed(server("http://localhost:3000/mcp"), "http://127.0.0.1:9000/token"))
    assert.isFalse(isUsed(server("http://localhost:3000/mcp"), "https://10.0.0.6/token"))
    // The names of a test.
    assert.isTrue(isUsed(server("https://mcp.test/mcp"), "https://login.test/token"))
    assert.isFalse(isUsed(server("https://mcp.test/mcp"), "https://login.consul/token"))
  })

  it("may be private where the named server is private itself, in the same network", () => {
    const rows: ReadonlyArray<readonly [from: string, to: string, isUsed: boolean]> = [
      ["10.0.0.5", "10.0.0.6", true],
      ["10.0.0.5", "login.corp", true],
      ["intranet", "[fd12::1]", true],
      ["10.0.0.5", "127.0.0.1", false],
      ["10.0.0.5", "169.254.169.254", false],
      ["10.0.0.5", "100.100.100.200", false],
      ["10.0.0.5", "metadata.google.internal", false],
      ["[fd12::1]", "[fd00:ec2::254]", false],
      ["169.254.1.1", "169.254.169.254", false],
      ["localhost", "[::1]", true],
      ["localhost", "[::ffff:127.0.0.1]", true],
      ["localhost", "0.0.0.0", false],
      ["localhost", "10.0.0.6", false]
    ]
    for (const [from, to, expected] of rows) {
      assert.strictEqual(isUsed(server(`https://${from}/mcp`), `https://${to}/token`), expected, `${from} names ${to}`)
    }
  })

  it("may be private near a further server that the application has chosen", () => {
    const chosen = UrlPolicy.choosing(remote, "https://10.0.0.9/realm")
    assert.isTrue(isUsed(chosen, "https://10.0.0.9/token"))
    assert.isTrue(isUsed(chosen, "https://10.0.0.8/token"))
    assert.isFalse(isUsed(chosen, "https://127.0.0.1/token"))
    assert.isFalse(isUsed(server("https://mcp.example.com/mcp", ["10.0.0.9"]), "https://10.0.0.8/token"))
  })

  it("MUST be https to be opened in a browser, or http on this machine", () => {
    assert.isTrue(Either.isRight(UrlPolicy.browsable("it", "https://10.0.0.6/authorize?a=b")))
    assert.isTrue(Either.isRight(UrlPolicy.browsable("it", "http://127.0.0.1:1/authorize")))
    assert.isTrue(Either.isLeft(UrlPolicy.browsable("it", "http://10.0.0.6/authorize")))
  })

  it("is named in the error without what may be secret", () => {
    const refused = Either.flip(UrlPolicy.check(remote, "the endpoint", "http://u:pass@a.test/x?token=secret#frag"))
    const { message } = Either.getOrThrow(refused)
    assert.strictEqual(message, "The client does not use the endpoint, http://a.test/x: it is not https")
  })
})
