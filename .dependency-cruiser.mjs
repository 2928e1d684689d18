// Which module may import which. `npm run check` runs it over all sources; tests and programs may import everything
// that is published.

/** The arrows between packages: each package imports those listed, and what they import. */
const ARROWS = {
  core: [],
  node: ["core"],
  testing: ["core"],
  openapi: ["core"],
  extensions: ["core"],
  proxy: ["extensions"],
  redis: ["auth"],
  sql: ["auth"],
  workflow: ["core"],
  ai: ["extensions"],
  auth: ["core"],
  cli: ["auth", "node", "proxy", "testing"]
}

/** The areas of packages, which are folders of `src`: each imports those listed, and what they import. */
const AREAS = {
  core: {
    kit: [],
    jsonrpc: ["kit"],
    protocol: ["jsonrpc"],
    definition: ["protocol"],
    server: ["definition"],
    client: ["definition"]
  },
  extensions: { skills: [], apps: [] }
}

/** The packages that need Node. */
const ON_NODE = ["node", "cli", "examples", "benchmarks", "attacks", "cluster"]

const below = (name, arrows = ARROWS) => [...new Set([name, ...arrows[name].flatMap((one) => below(one, arrows))])]

/**
 * The layers of folders inside a package, lowest first. A module imports its own folder and lower ones; folders on one
 * line do not import each other. Modules at the top of `src` are public and belong to every layer.
 */
const FOLDERS = {
  "core/server": [
    ["telemetry"],
    ["tasks"],
    ["runtime"],
    ["features", "http"],
    ["nodes"],
    ["legacy", "modern"],
    ["dispatch"]
  ],
  "core/client": [["http", "session"], ["legacy", "modern"], ["negotiation"], ["group"]],
  "extensions/skills": [["format"], ["server", "client"]],
  auth: [["discovery"], ["identity"], ["flow"], ["resource"], ["node"]]
}

/** The modules outside `legacy/`, `modern/` and the folders above both that import an era, and why. */
const ONE_ERA = [
  { module: "core/client/TasksClient", because: "tasks are an extension from 2026-07-28 on, which it names" },
  { module: "core/server/TasksServer", because: "it brings a server what both eras do about tasks" },
  { module: "core/protocol/extension/ExtensionTable", because: "no extension may use a name of either era" }
]

const sources = "^packages/[a-z]+/src/[a-z/]*"
const src = (name, path = "") => `^packages/${name.replace(/(\/|$)/, "/src$1")}/${path}`
const any = (names) => `(${names.join("|")})`

const arrows = Object.keys(ARROWS).map((name) => ({
  name: `arrows-${name}`,
  comment: `${name} imports only ${below(name).join(", ")}`,
  severity: "error",
  from: { path: src(name) },
  to: { path: "^packages/[a-z]+/src/", pathNot: `^packages/${any(below(name))}/src/` }
}))

const within = Object.entries(AREAS).flatMap(([name, areas]) =>
  Object.keys(areas).map((area) => ({
    name: `areas-${name}-${area}`,
    comment: `${area}/ imports only ${below(area, areas).join(", ")}`,
    severity: "error",
    from: { path: src(`${name}/${area}`) },
    to: { path: src(name), pathNot: `^packages/${name}/src/${any(below(area, areas))}/` }
  }))
)

const folders = Object.entries(FOLDERS).flatMap(([name, layers]) =>
  layers.flatMap((layer, index) =>
    layer.map((folder) => {
      const allowed = [folder, ...layers.slice(0, index).flat()]
      const others = layers.flat().filter((other) => !allowed.includes(other))
      return {
        name: `folders-${name.replace("/", "-")}-${folder}`,
        comment: `${folder}/ stands below ${others.join(", ")}`,
        severity: "error",
        from: { path: src(name, `${folder}/`) },
        to: { path: src(name, `${any(others)}/`) }
      }
    })
  ).filter(({ to }) => !to.path.includes("()"))
)

const eras = [["legacy", "modern"], ["modern", "legacy"]].map(([era, other]) => ({
  name: `era-${era}`,
  comment: `a module of the ${era} era never imports the ${other} era`,
  severity: "error",
  from: { path: `${sources}${era}/` },
  to: { path: `${sources}${other}/` }
}))

export default {
  forbidden: [
    {
      name: "no-circular",
      comment: "imports form no circle, types included",
      severity: "error",
      from: {},
      to: { circular: true }
    },
    ...arrows,
    ...within,
    ...folders,
    ...eras,
    {
      name: "era-neutral",
      comment: "only modules that choose an era, and those named in ONE_ERA, import one",
      severity: "error",
      from: {
        path: `${sources}`,
        pathNot: [
          `${sources}(legacy|modern|dispatch|negotiation)/`,
          "/src/index\\.ts$",
          "^packages/(testing|examples|benchmarks|attacks|cluster)/",
          ...ONE_ERA.map(({ module }) => `^packages/${module.replace("/", "/src/")}\\.ts$`)
        ]
      },
      to: { path: `${sources}(legacy|modern)/` }
    },
    {
      name: "published",
      comment: "other packages are imported by name, through what their `exports` name",
      severity: "error",
      from: { path: "^packages/([a-z]+)/" },
      to: { path: "^packages/([a-z]+)/src/", pathNot: "^packages/$1/", dependencyTypes: ["local"] }
    },
    {
      name: "self",
      comment: "a module imports its own package by relative paths",
      severity: "error",
      from: { path: "^packages/([a-z]+)/src/" },
      to: { path: "^packages/$1/src/", dependencyTypesNot: ["local", "type-only"] }
    },
    {
      name: "platform",
      comment: "only server, client and what stands on them import @effect/platform",
      severity: "error",
      from: { path: "^packages/core/src/(kit|jsonrpc|protocol|definition)/" },
      to: { path: "@effect/platform/" }
    },
    {
      name: "platform-node",
      comment: "only node, the command line and the programs import @effect/platform-node",
      severity: "error",
      from: { path: sources, pathNot: `^packages/${any(ON_NODE)}/` },
      to: { path: "@effect/platform-node" }
    },
    {
      name: "builtin",
      comment:
        "only node, auth/node, the command line and the programs import Node's modules, and redis and sql beside their drivers, which are for Node",
      severity: "error",
      from: {
        path: sources,
        pathNot: [
          `^packages/${any(ON_NODE)}/`,
          src("auth", "node/"),
          src("redis", "connection/RedisClient"),
          src("sql", "connection/Sockets")
        ]
      },
      to: { dependencyTypes: ["core"] }
    },
    {
      name: "web",
      comment: "a web handler needs the Fetch API only; it is not bundled with @effect/platform",
      severity: "error",
      from: { path: src("core/server", "WebHandler\\.ts$") },
      to: { path: "@effect/platform", reachable: true }
    },
    ...[["Server", "client"], ["Client", "server"]].map(([half, other]) => ({
      name: `half-${half}`,
      comment: `who imports the ${half.toLowerCase()} half of an extension does not load the ${other}`,
      severity: "error",
      from: { path: `^packages/extensions/src/(skills|apps)/\\w+${half}\\.ts$` },
      to: { path: src(`core/${other}`), reachable: true }
    })),
    {
      name: "resolved",
      comment: "every import can be resolved",
      severity: "error",
      from: {},
      to: { couldNotResolve: true }
    }
  ],
  options: {
    doNotFollow: { path: "node_modules/(?!@effect-mcp)" },
    exclude: { path: ["^packages/[a-z]+/(dist|build)/", "\\.v4\\.ts$"] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.base.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["@effect-mcp/source", "import", "node", "default", "types"],
      extensions: [".ts", ".js", ".mjs", ".cjs", ".json", ".d.ts"]
    }
  }
}
