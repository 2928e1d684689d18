// Where the modules of Effect stand in version 4. A row is a rule: the modules that moved to one place, and the place.
const http = [
  "Cookies",
  "Etag",
  "FetchHttpClient",
  "Headers",
  "HttpBody",
  "HttpClient",
  "HttpClientError",
  "HttpClientRequest",
  "HttpClientResponse",
  "HttpIncomingMessage",
  "HttpPlatform",
  "HttpServer",
  "HttpServerError",
  "HttpServerRequest",
  "HttpServerResponse",
  "Url"
]

/** The folder or module that each module is in now. Rows with `as` are modules that have another name there. */
const rows = [
  { rule: "@effect/platform is effect/http", of: http, before: "@effect/platform", to: "effect/http" },
  { rule: "tests of Effect are in effect/testing", of: ["TestClock", "TestConsole"], to: "effect/testing" },
  { rule: "FastCheck is the package", of: ["FastCheck"], as: "fast-check" },
  { rule: "HttpApp is HttpEffect", of: ["HttpApp"], as: "effect/http/HttpEffect" },
  { rule: "ConfigError is in Config", of: ["ConfigError"], as: "effect/Config" },
  { rule: "KeyValueStore is in effect/persistence", of: ["KeyValueStore"], to: "effect/persistence" }
]

/** Modules of version 4 that rules name, and that are not at the top of Effect. */
const placed = { HttpEffect: "effect/http/HttpEffect", NetAddress: "effect/net/NetAddress" }

export const moveRules = rows.map(({ rule }) => rule)

/** For each module that moved: the rule, and what a file imports. */
export const modules = new Map([
  ...rows.flatMap(({ as, before, of, rule, to }) =>
    of.map((module) => [module, {
      rule,
      from: as ?? `${to}/${module}`,
      before: before === undefined ? undefined : `${before}/${module}`
    }])
  ),
  ...Object.entries(placed).map(([module, from]) => [module, { rule: undefined, from }])
])
