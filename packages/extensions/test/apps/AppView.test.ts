import { assert, describe, it } from "@effect/vitest"
import * as RawTool from "@effect-mcp/core/RawTool"
import * as Tool from "@effect-mcp/core/Tool"
import * as AppView from "@effect-mcp/extensions/AppView"

const csp = { connectDomains: ["https://api.example.com"] }

describe("AppView.make", () => {
  it("is a resource with the media type of views, and what hosts must know in its _meta and in that of its contents", () => {
    const view = AppView.make("map", {
      uri: "ui://weather/map.html",
      title: "Map",
      csp,
      permissions: { geolocation: {} },
      domain: "maps.example.com",
      prefersBorder: true,
      meta: { "example.com/x": 1 }
    })
    const ui = { csp, permissions: { geolocation: {} }, domain: "maps.example.com", prefersBorder: true }
    assert.deepStrictEqual(view.advertised, {
      name: "map",
      uri: "ui://weather/map.html",
      title: "Map",
      mimeType: "text/html;profile=mcp-app",
      _meta: { "example.com/x": 1, ui }
    })
    assert.deepStrictEqual(view.contentMeta, { ui })
    const bare = AppView.make("bare", { uri: "ui://bare" })
    assert.deepStrictEqual(bare.advertised, {
      name: "bare",
      uri: "ui://bare",
      mimeType: "text/html;profile=mcp-app"
    })
    assert.isUndefined(bare.contentMeta)
  })

  it("refuses another scheme, an origin that is none, and what a resource refuses", () => {
    assert.throws(
      () => AppView.make("a", { uri: "https://example.com" as "ui://" }),
      `AppView "a": "https://example.com" must begin with ui://`
    )
    assert.throws(
      () => AppView.make("a", { uri: "ui://a", csp: { frameDomains: ["https://a.example", "b c"] } }),
      `AppView "a": csp.frameDomains.1: `
    )
    assert.throws(() => AppView.make("a", { uri: "ui://a b" }), "is not an absolute URI")
    // @ts-expect-error the scheme of views is "ui"
    assert.throws(() => AppView.make("a", { uri: "notes://a" }))
  })
})

describe("AppView.meta", () => {
  it("names a view, and the callers of a tool, in the meta of any tool", () => {
    const view = AppView.make("map", { uri: "ui://weather/map.html" })
    assert.deepStrictEqual(Tool.make("a", { meta: AppView.meta(view) }).advertised._meta, {
      ui: { resourceUri: "ui://weather/map.html" }
    })
    const raw = RawTool.make("b", {
      inputSchema: { type: "object" },
      meta: AppView.meta("ui://weather/map.html", { visibility: ["app"] })
    })
    assert.deepStrictEqual(raw.advertised._meta, {
      ui: { resourceUri: "ui://weather/map.html", visibility: ["app"] }
    })
  })
})
