import { assert, describe, it } from "@effect/vitest"
import * as Apps from "@effect-mcp/extensions/Apps"
import { Schema } from "effect"

const tool = (_meta?: Record<string, unknown>) => _meta === undefined ? {} : { _meta }

describe("Apps.ofTool", () => {
  it("gives the view and the callers of a tool, which are by default the model and the views", () => {
    assert.deepStrictEqual(Apps.ofTool(tool()), { visibility: ["model", "app"] })
    assert.deepStrictEqual(Apps.ofTool(tool({ ui: { resourceUri: "ui://w/v.html", visibility: ["app"], more: 1 } })), {
      resourceUri: "ui://w/v.html",
      visibility: ["app"]
    })
  })

  it("reads the flat key of earlier drafts, and prefers the nested one", () => {
    const flat = { "ui/resourceUri": "ui://w/flat.html" }
    assert.strictEqual(Apps.ofTool(tool(flat)).resourceUri, "ui://w/flat.html")
    assert.strictEqual(Apps.ofTool(tool({ ...flat, ui: {} })).resourceUri, "ui://w/flat.html")
    assert.strictEqual(Apps.ofTool(tool({ ...flat, ui: { resourceUri: "ui://w/v" } })).resourceUri, "ui://w/v")
  })

  it("counts as absent what is not valid", () => {
    for (const ui of [null, 7, "ui://w/v", [], { resourceUri: 7 }, { resourceUri: "https://w/v" }, { visibility: 7 }]) {
      assert.deepStrictEqual(Apps.ofTool(tool({ ui })), { visibility: ["model", "app"] }, JSON.stringify(ui))
    }
    for (const resourceUri of ["ui://", "ui:w", "ui://a\nb", "UI"]) {
      assert.isUndefined(Apps.ofTool(tool({ ui: { resourceUri } })).resourceUri)
    }
  })

  it("MUST NOT give the model a tool whose visibility does not include it, nor the views", () => {
    const of = (visibility: unknown) => {
      const one = tool({ ui: { visibility } })
      return [Apps.isForModel(one), Apps.isForApp(one)]
    }
    assert.deepStrictEqual(of(undefined), [true, true])
    assert.deepStrictEqual(of(["model"]), [true, false])
    assert.deepStrictEqual(of(["app"]), [false, true])
    assert.deepStrictEqual(of("app"), [false, true])
    assert.deepStrictEqual(of(["app", "host"]), [false, true])
    assert.deepStrictEqual(of([]), [false, false])
  })
})

describe("Apps.ofView", () => {
  it("gives what is valid, and the places of the rest", () => {
    const connectDomains = ["https://api.example.com", "wss://*.example.com:8443", "https://example.com/"]
    const ui = { csp: { connectDomains }, permissions: { camera: {} }, domain: "a.example.com", prefersBorder: false }
    assert.deepStrictEqual(Apps.ofView(ui), { ui, leftOut: [] })
    assert.deepStrictEqual(Apps.ofView({}), { ui: {}, leftOut: [] })
    assert.deepStrictEqual<unknown>(Apps.ofView({ domain: null, more: 1 }), { ui: { more: 1 }, leftOut: [] })
    assert.deepStrictEqual(Apps.ofView({ permissions: { camera: true } }).ui, { permissions: {} })
    assert.deepStrictEqual(Apps.ofView("all"), { ui: {}, leftOut: ["_meta.ui: was left out: Expected an object"] })
    const { leftOut, ui: rest } = Apps.ofView({
      csp: { connectDomains: [7, "https://a.example.com", "x y"], frameDomains: "https://a.example.com" },
      permissions: [],
      domain: 1,
      prefersBorder: "yes"
    })
    assert.deepStrictEqual(rest, { csp: { connectDomains: ["https://a.example.com"] } })
    assert.deepStrictEqual(leftOut.map((one) => one.split(":")[0]), [
      "csp.connectDomains.0",
      "csp.connectDomains.2",
      "csp.frameDomains",
      "permissions",
      "domain",
      "prefersBorder"
    ])
  })

  it("leaves out a source that would begin another one or another directive", () => {
    const evil = [
      "a; script-src *",
      "a *",
      "'unsafe-eval'",
      "a,b",
      "a\n*",
      "a\tb",
      "\"a\"",
      "a\u00a0b",
      "",
      "a".repeat(3000)
    ]
    const { leftOut, ui } = Apps.ofView({ csp: { resourceDomains: evil } })
    assert.deepStrictEqual(ui, { csp: { resourceDomains: [] } })
    assert.strictEqual(leftOut.length, evil.length)
    assert.deepStrictEqual(Apps.ofView({ csp: { frameDomains: Array(300).fill("https://a.example.com") } }).ui, {
      csp: {}
    })
  })
})

const notOrigins = [
  ...[
    "*",
    "https:",
    "http:",
    "wss:",
    "data:",
    "blob:",
    "javascript:",
    "javascript:alert(1)",
    "filesystem:",
    "https://*",
    "https://*.com"
  ],
  ...[
    "*.example.com",
    "example.com",
    "localhost:3000",
    "https://example.com/a",
    "https://example.com?a",
    "https://example.com#a"
  ],
  ...[
    "https://a@example.com",
    "https://example.com:*",
    "https://",
    "//example.com",
    "ftp://example.com",
    "https://a*.example.com"
  ],
  ...[
    "'self'",
    "'unsafe-inline'",
    "https://example.com https://b.com",
    "https://[::1",
    "https://example.com:99999",
    "ui://a",
    "file:///"
  ]
]

const notPublic = [
  ...[
    "http://localhost:3000",
    "https://localhost",
    "https://127.0.0.1:8080",
    "https://2130706433",
    "https://0x7f.1",
    "https://[::1]"
  ],
  ...[
    "https://169.254.169.254",
    "https://10.0.0.1",
    "https://192.168.1.1",
    "https://[fe80::1]",
    "https://[::ffff:169.254.169.254]"
  ],
  ...[
    "https://[fd00::1]",
    "https://router.local",
    "https://*.corp.internal",
    "https://metadata.google.internal.",
    "https://intranet"
  ],
  ...["http://example.com", "ws://example.com"]
]

describe("The origins of a view", () => {
  for (const source of notOrigins) {
    it(`never have ${source}, which is not an origin`, () => {
      const csp = { connectDomains: [source], baseUriDomains: [source] }
      for (const options of [{}, { allowPrivateOrigins: true }]) {
        const { leftOut, ui } = Apps.ofView({ csp }, options)
        assert.deepStrictEqual(ui, { csp: { connectDomains: [], baseUriDomains: [] } })
        assert.lengthOf(leftOut, 2)
      }
    })
  }

  for (const source of notPublic) {
    it(`have ${source} by option only`, () => {
      const csp = { resourceDomains: [source] }
      const { leftOut, ui } = Apps.ofView({ csp })
      assert.deepStrictEqual(ui, { csp: { resourceDomains: [] } })
      assert.deepStrictEqual(leftOut, [
        "csp.resourceDomains.0: was left out: The origin is private or not encrypted; `allowPrivateOrigins` allows it"
      ])
      assert.deepStrictEqual(Apps.ofView({ csp }, { allowPrivateOrigins: true }), { ui: { csp }, leftOut: [] })
    })
  }
})

describe("Apps.isMediaType", () => {
  it("knows the media type of views, however it is written", () => {
    for (
      const text of [Apps.MEDIA_TYPE, "text/html; profile=mcp-app", "TEXT/HTML;charset=utf-8;profile=\"mcp-app\""]
    ) assert.isTrue(Apps.isMediaType(text), text)
    for (
      const text of ["", "text/html", "text/html;profile=mcp-apps", "text/plain;profile=mcp-app", "profile=mcp-app"]
    ) {
      assert.isFalse(Apps.isMediaType(text), text)
    }
  })
})

describe("Apps.extension", () => {
  it("declares for a client the media type that it shows, and nothing for a server", () => {
    assert.strictEqual(Apps.extension.id, "io.modelcontextprotocol/ui")
    assert.deepStrictEqual(Apps.extension.declared, {
      client: { mimeTypes: ["text/html;profile=mcp-app"] },
      server: {}
    })
    assert.deepStrictEqual(Schema.decodeUnknownSync(Apps.extension.settings.client)({}), { mimeTypes: [] })
  })
})
