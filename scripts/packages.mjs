// What a user installs: writes and packs every published package as flat.mjs does for a release, looks at the tarballs with publint and
// attw, installs them into an empty project without this repository, and there runs a server as ESM, as CommonJS and bundled, and
// checks the types under `nodenext` and `bundler` with `skipLibCheck: false`. Then writes a project of each template with the packed
// command line, and there runs tests, build and server. `--dry-run` also asks npm what it would publish. Needs a build (`npm run build`).
import { build } from "esbuild"
import { spawn, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { release, writeRelease } from "./flat.mjs"
import { programs, readWorkspace, root, scope } from "./workspace.mjs"

const temporary = mkdtempSync(join(tmpdir(), "effect-mcp-packages-"))
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }))

const npm = process.platform === "win32" ? "npm.cmd" : "npm"
const npx = npm.replace("npm", "npx")
const tool = (path) => join(root, "node_modules", path)

/** Runs a command to its end; a failure ends the script with its output. */
const run = (what, command, args, { cwd = root, expected, input } = {}) => {
  const { error, status, stderr, stdout } = spawnSync(command, args, {
    cwd,
    // With CI=true, vitest colours what `expected` is looked for in.
    env: { ...process.env, NO_COLOR: "1" },
    encoding: "utf8",
    input,
    timeout: 180_000,
    maxBuffer: 64 * 1024 * 1024
  })
  const seen = expected === undefined || expected.test(stdout)
  if (status === 0 && seen) return stdout
  console.log(`FAIL ${what}\n${stdout}\n${stderr}\n${error?.message ?? (seen ? "" : `expected ${expected}`)}`)
  process.exit(1)
}

const done = (what) => console.log(`ok   ${what}`)

const published = readWorkspace(root).packages.filter(({ name }) => !programs.includes(name))
const packages = published.filter(({ library }) => library)
done(await writeRelease())
const tarballs = join(temporary, "tarballs")
mkdirSync(tarballs)
for (const { path } of published) {
  run(`pack ${path}`, npm, ["pack", "--silent", "--pack-destination", tarballs, `./${path}`], {
    cwd: join(root, release)
  })
}
const tarball = ({ manifest: { name, version } }) =>
  join(tarballs, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`)
const all = published.map(tarball)
const files = packages.map(tarball)
if (readdirSync(tarballs).length !== all.length) throw new Error(`${all.length} packages made other tarballs`)
done(`${all.length} tarballs packed`)

for (const file of all) {
  run(`publint ${file}`, process.execPath, [tool("publint/src/cli.js"), "run", file, "--strict"])
}
for (const file of files) {
  run(`attw ${file}`, process.execPath, [
    tool("@arethetypeswrong/cli/dist/index.js"),
    file,
    "--profile",
    "node16",
    "--ignore-rules",
    "cjs-resolves-to-esm"
  ])
}
done("publint and attw find nothing")

const project = join(temporary, "project")
const write = (path, text) => {
  mkdirSync(join(project, path, ".."), { recursive: true })
  writeFileSync(join(project, path), text)
}
const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).devDependencies
write("package.json", JSON.stringify({ name: "empty", private: true }))
const peers = { effect: "^3.22", "@effect/platform": "^0.97", "@effect/platform-node": "^0.108" }
const compilers = { typescript: own.typescript, "@types/node": own["@types/node"] }
run("install the tarballs", npm, [
  "install",
  "--no-audit",
  "--no-fund",
  "--silent",
  ...files,
  ...Object.entries({ ...peers, ...compilers }).map(([name, version]) => `${name}@${version}`)
], { cwd: project })
done("the tarballs install into an empty project, with the versions that the README names")

const program = (head) =>
  `${head}
const Add = Tool.make("add", { parameters: { a: Schema.Int, b: Schema.Int }, success: Schema.Struct({ sum: Schema.Int }) })
const AddLive = McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b }))
const Server = McpServer.layer({ name: "packed", version: "1.0.0" }, AddLive)
StdioServer.layer.pipe(Layer.provide(Server), Layer.launch, StdioServer.runMain)
`
const esm = program(`import * as Tool from "@effect-mcp/core/Tool"
import * as StdioServer from "@effect-mcp/node/StdioServer"
import * as McpServer from "@effect-mcp/core/McpServer"
import { Effect, Layer, Schema } from "effect"
`)
const cjs = program(`const Tool = require("@effect-mcp/core/Tool")
const { StdioServer } = require("@effect-mcp/node")
const McpServer = require("@effect-mcp/core/McpServer")
const { Effect, Layer, Schema } = require("effect")
`)
const message = (value) => `${JSON.stringify({ jsonrpc: "2.0", ...value })}\n`
const conversation = [
  {
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "pack", version: "1" } }
  },
  { method: "notifications/initialized" },
  { id: 2, method: "tools/call", params: { name: "add", arguments: { a: 2, b: 3 } } }
].map(message).join("")

const answers = (what, file) => {
  run(what, process.execPath, [file], {
    cwd: project,
    input: conversation,
    expected: /"structuredContent":\{"sum":5\}/
  })
  done(what)
}
write("server.mjs", esm)
write("server.cjs", cjs)
answers("a server answers as ESM", "server.mjs")
answers("a server answers as CommonJS", "server.cjs")
await build({
  absWorkingDir: project,
  entryPoints: ["server.mjs"],
  outfile: "bundled.mjs",
  bundle: true,
  platform: "node",
  format: "esm",
  minify: true,
  logLevel: "error"
})
answers("a server answers as one bundled file", "bundled.mjs")

// The driver of Redis is a CommonJS module; the banner is that of docs/platform/01-one-process.md.
await build({
  absWorkingDir: project,
  stdin: {
    contents: "import * as Nodes from \"@effect-mcp/redis/RedisNodes\"; console.log(typeof Nodes.layerWith)",
    resolveDir: project
  },
  outfile: "redis.mjs",
  bundle: true,
  platform: "node",
  format: "esm",
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  logLevel: "error"
})
run("load the package redis from a bundled file", process.execPath, ["redis.mjs"], {
  cwd: project,
  expected: /function/
})
done("the package redis loads from one bundled file")

// Two packages are enough for a server, and for a client, also where a program sees nothing but its own dependencies.
const roles = {
  server: { packages: ["core", "node"], program: esm },
  client: {
    packages: ["core", "node"],
    program: `import * as Client from "@effect-mcp/core/Client"
import * as StdioClient from "@effect-mcp/node/StdioClient"
import { Effect } from "effect"

const server = StdioClient.connector({ command: process.execPath, args: [${
      JSON.stringify(join(project, "server.mjs"))
    }] })
const sum = Effect.flatMap(Client.Client, (client) => client.callTool("add", { a: 2, b: 3 }))
Effect.runPromise(Effect.provide(sum, Client.layer(server))).then(
  (result) => console.log(JSON.stringify(result)),
  (error) => console.error(error)
)
`
  }
}
const managers = {
  pnpm: { version: "10.34.9", overrides: (all) => ({ pnpm: { overrides: all } }), exec: ["exec"] },
  "@yarnpkg/cli-dist": {
    version: "4.18.1",
    overrides: (all) => ({ resolutions: all }),
    exec: [],
    // Where CI is set, Yarn does not write a lock file unless told.
    files: {
      ".yarnrc.yml": "nodeLinker: pnp\nenableImmutableInstalls: false\nenableTelemetry: false\n",
      "yarn.lock": ""
    }
  }
}
const tarballOf = Object.fromEntries(published.map((one) => [one.manifest.name, `file:${tarball(one)}`]))
for (const [manager, { exec, files: extra = {}, overrides, version }] of Object.entries(managers)) {
  for (const [role, { packages: own, program: source }] of Object.entries(roles)) {
    const cwd = join(temporary, `${role}-${manager.replace(/\W/g, "-")}`)
    mkdirSync(cwd)
    const put = (path, text) => writeFileSync(join(cwd, path), text)
    const dependencies = Object.fromEntries(
      own.map((name) => [`@effect-mcp/${name}`, tarballOf[`@effect-mcp/${name}`]])
    )
    put(
      "package.json",
      JSON.stringify({
        name: role,
        private: true,
        type: "module",
        dependencies: { ...dependencies, ...peers, ...compilers },
        ...overrides(tarballOf)
      })
    )
    put(
      "tsconfig.json",
      JSON.stringify({
        compilerOptions: { module: "nodenext", target: "es2022", types: ["node"], strict: true, skipLibCheck: true },
        files: ["main.ts"]
      })
    )
    put("main.ts", source)
    for (const [path, text] of Object.entries(extra)) put(path, text)
    const on = (what, args, more) =>
      run(`${what} a ${role} with ${manager}`, npx, ["--yes", `${manager}@${version}`, ...args], { cwd, ...more })
    on("install", ["install"])
    on("compile", [...exec, "tsc", "-p", "."])
    on("run", [...exec, "node", "main.js"], {
      input: role === "server" ? conversation : "",
      expected: /"structuredContent":\{"sum":5\}/
    })
    done(`a ${role} of two packages works with ${manager}`)
  }
}

// Every public module, types and values, so that each declaration of the tarballs is checked.
const everything = packages.flatMap(({ manifest }) =>
  Object.keys(manifest.exports).filter((path) =>
    path.startsWith("./") && !path.includes("unstable") && !path.endsWith(".json")
  )
    .map((path) => manifest.name + path.slice(1))
)
write(
  "types.ts",
  `${esm}${everything.map((path, index) => `import * as M${index} from "${path}"\n`).join("")}
export const modules = [${everything.map((_, index) => `M${index}`).join(", ")}]\n`
)
write(
  "types.cts",
  everything.map((path, index) => `import * as M${index} from "${path}"\nexport { M${index} }\n`).join("")
)
for (
  const [module, moduleResolution, include] of [
    ["nodenext", "nodenext", ["types.ts", "types.cts"]],
    ["esnext", "bundler", ["types.ts"]]
  ]
) {
  write(
    "tsconfig.json",
    JSON.stringify({
      compilerOptions: {
        strict: true,
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
        noEmit: true,
        target: "ES2022",
        lib: ["ES2022", "DOM", "DOM.Iterable"],
        types: ["node"],
        module,
        moduleResolution
      },
      files: include
    })
  )
  write(
    "package.json",
    JSON.stringify({ ...JSON.parse(readFileSync(join(project, "package.json"), "utf8")), type: "module" })
  )
  run(`types under ${moduleResolution}`, process.execPath, [tool("typescript/bin/tsc"), "-p", "."], { cwd: project })
  done(`the types of ${everything.length} public modules are right under ${moduleResolution}, libraries checked`)
}

// Each module exports what its compiled source exports, and what is one value there is one value here: no service exists twice.
const exported = packages.flatMap(({ manifest, path }) =>
  Object.entries(manifest.exports).filter(([, target]) => target.import?.includes("/dist/")).map(([name, target]) => [
    manifest.name + name.slice(1),
    pathToFileURL(join(root, path, target.import)).href
  ])
)
writeFileSync(
  join(root, release, "identities.mjs"),
  `const flatOf = new Map()
const pathOf = new Map()
for (const [path, source] of ${JSON.stringify(exported)}) {
  const [flat, compiled] = [await import(path), await import(source)]
  for (const name of new Set([...Object.keys(flat), ...Object.keys(compiled)])) {
    const [one, other] = [flat[name], compiled[name]]
    if (typeof one !== typeof other) throw new Error(path + " differs in " + name)
    if (typeof one !== "function" || path.split("/").length < 3) continue
    if (flatOf.has(other) ? flatOf.get(other) !== one : pathOf.has(one)) {
      throw new Error(path + ": " + name + " is not what it is as " + pathOf.get(flatOf.get(other) ?? one))
    }
    flatOf.set(other, one)
    pathOf.set(one, path)
  }
}
console.log(pathOf.size + " values")
`
)
run("compare the flat modules with the compiled ones", process.execPath, ["identities.mjs"], {
  cwd: join(root, release),
  expected: /[1-9]\d{2,} values/
})
done(`${exported.length} modules export what their sources export, and each value once`)

const hidden = spawnSync(
  process.execPath,
  ["--input-type=module", "-e", `import "@effect-mcp/core/server/runtime/Routes"`],
  {
    cwd: project,
    encoding: "utf8"
  }
)
if (!/ERR_PACKAGE_PATH_NOT_EXPORTED/.test(hidden.stderr)) {
  console.log(`FAIL a hidden module can be imported\n${hidden.stdout}\n${hidden.stderr}`)
  process.exit(1)
}
done("a hidden module cannot be imported")

// The command line as `npx` installs it, and as `npm create` runs it; then a project of each template, in one installation.
const tools = join(temporary, "tools")
const projects = join(temporary, "projects")
mkdirSync(tools)
mkdirSync(projects)
writeFileSync(join(tools, "package.json"), JSON.stringify({ name: "tools", private: true }))
const ofCommands = published.filter(({ library }) => !library).map(tarball)
run("install the command line", npm, ["install", "--no-audit", "--no-fund", "--silent", ...ofCommands], { cwd: tools })
const installed = readdirSync(join(tools, "node_modules", scope.slice(0, -1))).sort()
if (installed.join() !== "cli,create") throw new Error(`The command line installs ${installed.join()}`)
const bin = (name) => join(tools, "node_modules", ".bin", name)
const templates = ["stdio", "http", "host"]
for (const template of templates) {
  run(`write a ${template}`, bin("create-effect-mcp"), [template, "--template", template], {
    cwd: projects,
    expected: /^Written: /
  })
}
writeFileSync(
  join(projects, "package.json"),
  JSON.stringify({ name: "projects", private: true, workspaces: templates, overrides: tarballOf })
)
run("install the projects", npm, ["install", "--no-audit", "--no-fund", "--silent"], { cwd: projects })
for (const template of templates) {
  const cwd = join(projects, template)
  run(`build a ${template}`, npm, ["run", "build"], { cwd })
  run(`test a ${template}`, npm, ["test"], { cwd, expected: /Test Files +1 passed/ })
}
const stdio = join(projects, "stdio")
run("inspect the stdio server", npm, ["run", "inspect"], { cwd: stdio, expected: /forecast\(city: string\)/ })
for (const server of [[process.execPath, join(stdio, "dist", "main.js")], [npm, "run", "--silent", "dev"]]) {
  run("call the stdio server", bin("effect-mcp"), ["call", "forecast", "city=Oslo", "--cwd", stdio, "--", ...server], {
    cwd: stdio,
    expected: /-4/
  })
}
const http = spawn(process.execPath, ["dist/main.js"], {
  cwd: join(projects, "http"),
  env: { ...process.env, PORT: "0" },
  stdio: ["ignore", "pipe", "inherit"]
})
process.on("exit", () => http.kill())
const url = await new Promise((resolve, reject) => {
  let seen = ""
  http.stdout.on("data", (data) => {
    seen += data
    const [, url] = /listens at (http[^\s"]+)/.exec(seen) ?? []
    if (url !== undefined) resolve(url)
  })
  http.once("close", (code) => reject(new Error(`the HTTP server of the template ended with ${code}: ${seen}`)))
})
run("call the HTTP server", bin("effect-mcp"), ["call", url, "forecast", "city=Rome"], { expected: /17/ })
http.removeAllListeners("close")
http.kill()
const host = join(projects, "host")
const weather = { command: process.execPath, args: [join(stdio, "dist", "main.js")] }
writeFileSync(join(host, "servers.json"), JSON.stringify({ mcpServers: { weather } }))
run("start the host", npm, ["start"], { cwd: host, expected: /forecast \(weather\): Tomorrow's temperature/ })
done("the command line installs alone, and the projects of its templates are built, tested and called")

if (process.argv.includes("--dry-run")) {
  for (const file of all) {
    run(`publish ${file}`, npm, ["publish", "--dry-run", "--provenance=false", "--silent", file])
  }
  done("npm would publish every tarball")
}
