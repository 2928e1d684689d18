import { assert, describe, it } from "@effect/vitest"
import * as SchemaFormat from "../../../src/definition/schema/SchemaFormat.js"

/** Texts that have the format, and texts that do not. */
const formats: Readonly<Record<string, readonly [good: ReadonlyArray<string>, bad: ReadonlyArray<string>]>> = {
  date: [["2024-02-29", "1963-06-19"], ["2023-02-29", "1963-13-01", "1963-6-1", "06/19/1963", "১963-06-19"]],
  time: [
    ["08:30:06Z", "08:30:06.283185z", "23:59:60Z", "15:59:60-08:00", "01:29:60+01:30"],
    ["08:30:06", "24:00:00Z", "08:60:06Z", "22:59:60Z", "08:30:06+24:00", "8:30:06Z", "08:30:06 PST"]
  ],
  "date-time": [
    ["1963-06-19T08:30:06.283185Z", "1990-12-31T15:59:60.123-08:00", "1963-06-19t08:30:06z"],
    ["1990-02-31T15:59:59-08:00", "1998-12-31T22:59:60Z", "1963-06-19 08:30:06Z", "1963-06-19T08:30:06", "now"]
  ],
  duration: [["P4DT12H30M5S", "P4Y", "PT0S", "P1M", "PT36H", "P2W"], [
    "PT1D",
    "P",
    "P1YT",
    "P1D2H",
    "P2S",
    "4D",
    "P1Y2W"
  ]],
  email: [
    ["joe.bloggs@example.com", "te~st@example.com", `"joe bloggs"@example.com`, "joe@[127.0.0.1]", "joe@[IPv6:::1]"],
    [
      "2962",
      ".test@example.com",
      "te..st@example.com",
      "joe@=example.com",
      "joe@[127.0.0.300]",
      "joe bloggs@example.com"
    ]
  ],
  "idn-email": [["실례@실례.테스트", "joe@example.com"], ["2962", "a b@c"]],
  hostname: [["www.example.com", "a-b.c", "localhost", "1host"], [
    "-a.b",
    "a-.b",
    "a_b",
    "a..b",
    ".a",
    "a".repeat(64),
    ""
  ]],
  ipv4: [["192.168.0.1", "0.0.0.0"], [
    "127.0.0",
    "256.256.256.256",
    "127.0.0.0.1",
    "087.10.0.1",
    "0x7f.0.0.1",
    "1.2.3.4."
  ]],
  ipv6: [["::1", "::", "::ffff:192.168.0.1", "1:2:3:4:5:6:7:8"], [
    "12345::",
    "1::d6::42",
    "fe80::1%eth0",
    "::1/64",
    "1.2.3.4"
  ]],
  uri: [
    ["http://foo.bar/?baz=qux#quux", "urn:oasis:names", "ldap://[2001:db8::7]/c=GB", "mailto:a@b.c", "http://[v1.fe]/"],
    [
      "//foo.bar/x",
      "/abc",
      "\\\\WINDOWS",
      "http:// a",
      "bar,baz",
      "http://a/{b}",
      "http://a:b/",
      "http://a/%zz",
      "http://[x]"
    ]
  ],
  "uri-reference": [["http://foo.bar", "//foo.bar/x", "/abc", "abc", "#frag", "", "a/b:c"], [
    "\\\\W",
    "a b",
    "#a#b",
    "1:2",
    "/[::1]"
  ]],
  iri: [["http://ƒøø.ßår/?∂éœ=πîx#πîüx", "http://a"], ["/abc", "âππ", "\\\\W", "http://2001:db8::7334"]],
  "iri-reference": [["/âππ", "#ƒrägmênt", "http://a"], ["\\\\WINDOWS\\filëßåré", "#ƒräg\\mênt"]],
  "uri-template": [
    ["http://a/{+path,x}{?q*,n:3}", "a'b", "", "{a.b}"],
    ["http://a/{term", "a}", "{a b}", "{a..b}", "{}", "a\"b", "%zz"]
  ],
  uuid: [["2EB8AA08-aa98-11ea-b4aa-73b441d16380"], [
    "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
    "2eb8aa08aa9811eab4aa73b441d16380"
  ]],
  "json-pointer": [["", "/foo/bar~0/baz~1/%a", "/"], ["/foo/bar~", "a", "#/a", "/~2"]],
  "relative-json-pointer": [["1", "0/foo", "2/0/baz", "0#"], ["/foo", "-1/a", "01/a", "0##", "+1/a"]],
  regex: [["^(a|b)+$", "\\p{L}"], ["^(abc]", "\\a"]]
}

describe("The format", () => {
  for (const [format, [good, bad]] of Object.entries(formats)) {
    const matches = SchemaFormat.find(format)!
    it(`${format} is that of these texts, and not of those`, () => {
      assert.deepStrictEqual(good.filter((text) => !matches(text)), [])
      assert.deepStrictEqual(bad.filter(matches), [])
    })
  }

  it("that is not known is not checked", () => {
    for (const name of ["idn-hostname", "int32", "toString", "constructor"]) assert.isUndefined(SchemaFormat.find(name))
  })

  it("is checked in time linear in the text", () => {
    const long = ["a", "a.", "a@", "a:", "http://a@", "{a", "{a,", "{a.", "/", "a-", "\"", "1", "%41", "[", "1:", "P1"]
    for (const format of Object.keys(formats)) {
      for (const part of long) {
        const before = process.cpuUsage()
        SchemaFormat.find(format)!(`${part.repeat(200_000)}!`)
        assert.isBelow(process.cpuUsage(before).user, 2_000_000, `${format} ${part}`)
      }
    }
  })
})
