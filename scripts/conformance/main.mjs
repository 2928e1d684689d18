// The official conformance suite against our everything-server and our client, one revision at a time. Each leg has a
// server that speaks that revision and no other, because the suite offers the newest whatever it is told to test; clients
// are run one by one, because a suite of them does not look at how they end. What the suite prints is not trusted: its
// checks are read here, and whatever is not SUCCESS or INFO must be expected, with a reason.
//
// The leg "proxy" is the server's leg through a proxy in front of the everything-server; the leg "nodes" is the server's leg
// with three everything-servers over one Redis, where each request goes to the next one. The leg "authorization" is that of
// authorization servers; it runs against the one of package testing.
//
// The suite is its newest version, which knows every revision. What npm calls "latest" is older, and most people run it: "latest"
// in place of a revision runs its scenarios against servers and a client that speak all revisions.
//
// A run of all legs prints how many scenarios passed, as a table, and fails when the table of README.md says something else; with `--write`
// it writes the table.
//
//   node scripts/conformance/main.mjs [--write] [server] [client] [authorization] [proxy] [nodes] [2025-11-25 | extension | latest ...] [--upstream <version>] [--scenario <name>]
import { spawn, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { balance, end, freePort, startRedis, until } from "./nodes.mjs"

const home = dirname(fileURLToPath(import.meta.url))
const root = join(home, "..", "..")
const node24 = join(home, "node_modules/node/bin/node")
/** The suite that runs a leg: the newest, or the one that npm calls "latest". */
const suiteOf = (version) =>
  join(
    home,
    "node_modules",
    version === "latest" ? "conformance-latest" : "@modelcontextprotocol/conformance",
    "dist/index.js"
  )

/** How many scenarios each leg has: fewer would pass in silence. */
const scenarios = { "2025-03-26": 1, "2025-06-18": 27, "2025-11-25": 33, "2026-07-28": 40, latest: 32 }

/** What belongs to no single revision: the suite is told of none, and servers speak all. */
const withoutRevision = ["extension", "latest"]

const tokenEndpoint = ["basic", "post", "none"].map((method) => `auth/token-endpoint-auth-${method}`)

const authorization = [
  ...["default", "var1", "var2", "var3"].map((name) => `auth/metadata-${name}`),
  "auth/basic-cimd",
  "auth/scope-from-www-authenticate",
  "auth/scope-from-scopes-supported",
  "auth/scope-omitted-when-undefined",
  "auth/scope-step-up",
  "auth/scope-retry-limit",
  ...tokenEndpoint,
  "auth/pre-registration"
]

/** Those of the extensions, which the suite runs one by one: they belong to no revision. */
const extensionScenarios = [
  "tasks-lifecycle",
  "tasks-capability-negotiation",
  "tasks-wire-fields",
  "tasks-request-state-removal",
  "tasks-mrtr-input",
  "tasks-request-headers",
  "tasks-dispatch-and-envelope",
  "tasks-status-notifications",
  "tasks-required-task-error",
  "tasks-mrtr-composition",
  "sep-2640-skills-enumeration",
  "sep-2640-skills-manifest",
  "sep-2640-skills-directory"
]

/** Those of clients; "extension" has those of extensions, which belong to no revision. */
const clientScenarios = {
  "2025-03-26": ["auth/2025-03-26-oauth-metadata-backcompat", "auth/2025-03-26-oauth-endpoint-fallback"],
  "2025-06-18": ["initialize", "tools_call", ...tokenEndpoint],
  "2025-11-25": [
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "json-schema-2020-12-preservation",
    ...authorization
  ],
  "2026-07-28": [
    "tools_call",
    "request-metadata",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
    ...authorization,
    "auth/resource-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
    "auth/authorization-server-migration",
    "auth/iss-supported",
    "auth/iss-not-advertised",
    "auth/iss-supported-missing",
    "auth/iss-wrong-issuer",
    "auth/iss-unexpected",
    "auth/iss-normalized",
    "auth/metadata-issuer-mismatch"
  ],
  extension: [
    "auth/client-credentials-jwt",
    "auth/client-credentials-basic",
    "auth/enterprise-managed-authorization",
    "auth/dpop",
    "auth/dpop-nonce",
    "auth/wif-jwt-bearer",
    "sep-2640-client-no-prefetch",
    "sep-2640-client-verify-digest",
    "sep-2640-client-verify-size",
    "sep-2640-client-verify-frontmatter"
  ],
  latest: [
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    ...authorization,
    "auth/2025-03-26-oauth-metadata-backcompat",
    "auth/2025-03-26-oauth-endpoint-fallback",
    "auth/resource-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
    "auth/client-credentials-jwt",
    "auth/client-credentials-basic",
    "auth/cross-app-access-complete-flow"
  ]
}

const install = () => {
  const lock = join(home, "package-lock.json")
  const installed = join(home, "node_modules/.package-lock.json")
  if (existsSync(installed) && existsSync(node24) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return
  console.log("installing the conformance suite")
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: home, stdio: "inherit" })
  if (status !== 0) throw new Error("The conformance suite could not be installed")
  if (!existsSync(node24)) throw new Error(`There is no ${node24}: was npm told not to run the scripts of packages?`)
}

/** What makes the suite run the scenarios of one revision. */
const specVersion = (version) => withoutRevision.includes(version) ? [] : ["--spec-version", version]

/** What makes a program of ours speak one revision and no other. */
const only = (version) => withoutRevision.includes(version) ? [] : ["--version", version]

/** The revisions of clients in front of a proxy, and the revision that the proxy speaks to the everything-server. */
const proxied = Object.fromEntries(Object.keys(scenarios).map((version) => [version, version]))

/** Starts the everything-server with one revision, or with all, and gives its address once it says it. */
const everything = (version, ...args) => start("server", [...only(version), ...args])

/** Starts a proxy with one revision, and the everything-server behind it. */
const throughProxy = async (version, upstreamVersion) => {
  const upstream = await everything(upstreamVersion)
  const proxy = await start("proxy", [...only(version), "--upstream", upstream.url])
  return {
    url: proxy.url,
    stop: () => {
      proxy.stop()
      upstream.stop()
    },
    ended: () => proxy.ended() || upstream.ended()
  }
}

/** Starts three everything-servers over one Redis, behind a balancer that passes every request on to the next one. */
const throughNodes = async (version, redis) => {
  const nodes = await Promise.all([1, 2, 3].map(() => everything(version, "--redis", redis)))
  const balancer = await balance(nodes.map(({ url }) => url))
  return {
    url: balancer.url,
    stop: () => {
      balancer.stop()
      nodes.forEach((node) => node.stop())
    },
    ended: () => nodes.some((node) => node.ended()),
    // The session scenario of the oldest revision has a handful of requests.
    flaw: () => balancer.counts.some((count) => count === 0) ? "a node has received no request" : undefined
  }
}

const start = async (program, args) => {
  const child = spawn(
    process.execPath,
    [join(root, `packages/examples/dist/everything/${program}.js`), "--port", "0", ...args],
    { stdio: ["ignore", "pipe", "inherit"] }
  )
  // One leg that fails ends this process, and the other legs have servers of their own.
  const kill = () => child.kill("SIGKILL")
  process.once("exit", kill)
  child.once("exit", () => process.off("exit", kill))
  const said = await until(child, `everything/${program}`, /everything is at \S+(?=\s)/)
  const url = /everything is at (\S+)/.exec(said)[1]
  return { url, stop: () => end(child), ended: () => child.exitCode !== null || child.signalCode !== null }
}

/** How long one run of the suite may last. The longest takes half a minute; the suite itself waits for ever in places. */
const limit = 120_000

const run = (version, args, onOutput = () => {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(node24, [suiteOf(version), ...args], { stdio: ["ignore", "pipe", "pipe"] })
    let said = ""
    const kill = () => child.kill("SIGKILL")
    process.once("exit", kill)
    child.once("exit", () => process.off("exit", kill))
    const late = setTimeout(() => {
      kill()
      reject(new Error(`The suite has not ended in ${limit / 1000} s: ${args.join(" ")}\n${said}`))
    }, limit)
    child.stdout.on("data", (chunk) => onOutput(said += chunk))
    child.stderr.on("data", (chunk) => said += chunk)
    child.on("error", reject)
    child.on("exit", (status) => {
      clearTimeout(late)
      const end = () => {
        child.stdout.destroy()
        child.stderr.destroy()
        resolve({ status, said })
      }
      // Its last words may arrive after its end. A client that it has left behind may keep the pipes open.
      child.once("close", end)
      setTimeout(end, 2000).unref()
    })
  })

/** Every scenario that left checks behind, with its checks. */
export const results = (out, kind) =>
  readdirSync(out, { recursive: true })
    .map(String)
    .filter((path) => path.endsWith("checks.json"))
    .map((path) => ({
      scenario: dirname(path).replace(new RegExp(`^${kind}-`), "").replace(/-\d{4}-\d\d-\d\dT.*$/, ""),
      checks: JSON.parse(readFileSync(join(out, path), "utf8"))
    }))
    .sort((a, b) => a.scenario < b.scenario ? -1 : 1)

/** What a leg says against us: checks that are not as they must be, expectations that are stale, scenarios not run. */
export const judge = (found, expected, count) => {
  const met = new Set()
  const wrong = found.flatMap(({ checks, scenario }) => [
    ...checks.length === 0 ? [`${scenario}: it checked nothing`] : [],
    ...checks.flatMap(({ description, errorMessage, id, status }) => {
      if (status === "SUCCESS" || status === "INFO") return []
      const key = `${scenario}/${id}`
      if (expected[key]?.status === status) {
        met.add(key)
        return []
      }
      return [`${key}: ${status}: ${errorMessage ?? description ?? ""}`]
    })
  ])
  const stale = Object.keys(expected).filter((key) => !met.has(key)).map((key) =>
    `${key}: expected, and not met: stale`
  )
  const missing = count === undefined || found.length === count
    ? []
    : [`${found.length} scenarios were run, and not ${count}`]
  return [...wrong, ...stale, ...missing]
}

/** How many scenarios passed of how many, by leg and revision. */
const passed = new Map()

/** Whether a scenario passed: without a complaint, and without a failure that is expected. */
export const isGood = ({ checks, scenario }, wrong) =>
  !wrong.some((line) => line.startsWith(`${scenario}/`) || line.startsWith(`${scenario}:`)) &&
  !checks.some(({ status }) => status === "FAILURE" || status === "WARNING")

/** Notes how many of the scenarios passed. */
const note = (leg, version, found, wrong) => {
  const failed = found.filter((one) => !isGood(one, wrong))
  passed.set(`${leg} ${version}`, { all: found.length, good: found.length - failed.length })
}

const columns = [
  ["server", "server"],
  ["nodes", "three nodes"],
  ["proxy", "through a proxy"],
  ["client", "client"],
  ["authorization", "authorization server"]
]

/** The table of README.md: how many scenarios passed of all, by revision and by what was tested. */
export const tableOf = (passed, versions) =>
  [
    ["revision", ...columns.map(([, title]) => title)],
    ["---", ...columns.map(() => "---")],
    ...versions.map((version) => [
      { extension: "extensions", latest: "npm's `latest`" }[version] ?? version,
      ...columns.map(([leg]) => {
        const found = passed.get(`${leg} ${version}`)
        return found === undefined ? "" : `${found.good} of ${found.all}`
      })
    ])
  ].map((row) => `| ${row.join(" | ")} |`.replace(/ {2,}/g, " ")).join("\n")

const [BEGIN, END] = ["<!-- conformance: made by npm run conformance -- --write -->\n\n", "\n\n<!-- end -->"]

/** The README with this table in place of its own; `undefined` when the README has no place for a table. */
export const withTable = (readme, table) => {
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)]
  return begin === -1 || end < begin ? undefined : readme.slice(0, begin + BEGIN.length) + table + readme.slice(end)
}

/** What a server says against itself, after all scenarios. */
const flaws = (server) => [
  ...server.ended() ? ["an everything-server has ended"] : [],
  ...server.flaw?.() === undefined ? [] : [server.flaw()]
]

/** The scenarios of extensions, each by itself, against one server. */
const extensionLeg = async (name, open, expected, only) => {
  const { said } = await run("extension", ["list", "--server"])
  const wrong = unnamed(said.replaceAll(/^.*\[(?!extension\]).*$/gm, ""), extensionScenarios)
    .map((name) => `${name}: the suite has it, and we do not run it`)
  const chosen = extensionScenarios.filter((name) => only === undefined || name === only)
  const server = await open()
  const all = []
  try {
    for (const scenario of chosen) {
      const out = mkdtempSync(join(tmpdir(), "conformance-"))
      await run("extension", ["server", "--url", server.url, "--scenario", scenario, "-o", out])
      const own = Object.fromEntries(Object.entries(expected).filter(([key]) => key.startsWith(`${scenario}/`)))
      const found = results(out, "server")
      for (const line of judge(found, own, 1)) wrong.push(line)
      for (const one of found) all.push(one)
      rmSync(out, { recursive: true, force: true })
    }
    if (only === undefined) { for (const line of flaws(server)) wrong.push(line) }
  } finally {
    server.stop()
  }
  const good = all.flatMap(({ checks }) => checks).filter(({ status }) => status === "SUCCESS").length
  console.log(`${name} extension: ${chosen.length} scenarios, ${good} checks passed, ${wrong.length} complaints`)
  note(name, "extension", all, wrong)
  for (const line of wrong) console.log(`  ${line}`)
  return wrong
}

const leg = async (name, open, version, expected, scenario) => {
  const server = await open()
  const out = mkdtempSync(join(tmpdir(), "conformance-"))
  try {
    const { said, status } = await run(version, [
      "server",
      "--url",
      server.url,
      ...scenario === undefined ? ["--suite", "all"] : ["--scenario", scenario],
      ...specVersion(version),
      "-o",
      out
    ])
    const found = results(out, "server")
    const wrong = [
      ...judge(found, scenario === undefined ? expected : {}, scenario === undefined ? scenarios[version] : 1),
      ...scenario === undefined ? flaws(server) : []
    ]
    const checks = found.flatMap((one) => one.checks)
    note(name, version, found, wrong)
    console.log(
      `${name} ${version}: ${found.length} scenarios, ${
        checks.filter(({ status }) => status === "SUCCESS").length
      } of ${checks.filter(({ status }) => status !== "INFO").length} checks passed, ${wrong.length} complaints`
    )
    for (const line of wrong) console.log(`  ${line}`)
    if (found.length === 0) console.log(said)
    if (wrong.length === 0 && status !== 0) return [`the suite ended with ${status}:\n${said}`]
    return wrong
  } finally {
    server.stop()
    rmSync(out, { recursive: true, force: true })
  }
}

/** Of a list of scenarios of the suite, those that are not among ours. */
export const unnamed = (list, ours) =>
  [...list.matchAll(/^\s*- (\S+) \[/gm)]
    .map(([, name]) => name)
    .filter((name) => !ours.includes(name))

/**
 * How often a scenario of a client runs, until it has nothing to say. npm's "latest" complains about a client that is 200 ms late after
 * 500 ms, as it is on a busy machine; its newest version does not.
 */
const attempts = (version, scenario) => version === "latest" && scenario === "sse-retry" ? 3 : 1

const clientLeg = async (version, scenario, expected) => {
  const out = mkdtempSync(join(tmpdir(), "conformance-"))
  try {
    const client = join(root, "packages/examples/dist/everything/client.js")
    const { said, status } = await run(version, [
      "client",
      "--command",
      `${process.execPath} ${client}`,
      "--scenario",
      scenario,
      ...specVersion(version),
      "-o",
      out
    ])
    const found = results(out, "client")
    const wrong = judge(found, expected, 1)
    const good = found.every((one) => isGood(one, wrong))
    if (wrong.length === 0 && good && status !== 0) wrong.push(`${scenario}: the suite ended with ${status}:\n${said}`)
    return { wrong, good: good && wrong.length === 0 }
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

const clientLegs = async (version, expected, only) => {
  const names = clientScenarios[version].filter((name) => only === undefined || name === only)
  const { said } = await run(version, ["list", "--client", ...specVersion(version)])
  // Without a revision, the suite lists the scenarios of all.
  const ours = version === "extension" ? Object.values(clientScenarios).flat() : clientScenarios[version]
  const wrong = unnamed(said, ours).map((name) => `${name}: the suite has it, and we do not run it`)
  let good = 0
  for (const scenario of names) {
    const own = Object.fromEntries(Object.entries(expected).filter(([key]) => key.startsWith(`${scenario}/`)))
    let ran = await clientLeg(version, scenario, own)
    for (let left = attempts(version, scenario); --left > 0 && ran.wrong.length > 0;) {
      ran = await clientLeg(version, scenario, own)
    }
    if (ran.good) good++
    for (const line of ran.wrong) wrong.push(line)
  }
  passed.set(`client ${version}`, { all: names.length, good })
  console.log(`client ${version}: ${names.length} scenarios, ${wrong.length} complaints`)
  for (const line of wrong) console.log(`  ${line}`)
  return wrong
}

/** Those of authorization servers. They run together: the second needs what the first found. */
const authorizationScenarios = ["authorization-server-metadata-endpoint", "authorization-code-grant"]

const authorizationLeg = async (version, expected) => {
  const server = await start("issuer", [])
  const out = mkdtempSync(join(tmpdir(), "conformance-"))
  // The user's browser opens the address that the suite prints, and follows the redirect to the suite, which prints the
  // address before it listens.
  let opened
  const open = (said) => {
    const [url] = /http:\/\/\S+\/authorize\?\S+(?=\s)/.exec(said) ?? []
    if (url === undefined || !said.includes("Callback server started")) return
    opened ??= fetch(url).then(({ status }) => status, String)
  }
  try {
    const { said, status } = await run(version, [
      "authorization",
      ...["--url", server.url, "--client-id", "suite", "--resource", "https://mcp.example/mcp"],
      ...["--port", String(await freePort()), "--spec-version", version, "-o", out]
    ], open)
    const found = results(out, "authorization-server")
    const list = await run(version, ["list", "--authorization", ...specVersion(version)])
    const wrong = [
      ...unnamed(list.said, authorizationScenarios).map((name) => `${name}: the suite has it, and we do not run it`),
      ...judge(found, expected, authorizationScenarios.length)
    ]
    if (await opened !== 200) wrong.push(`the browser got ${await opened} from the suite`)
    if (server.ended()) wrong.push("the authorization server has ended")
    if (wrong.length === 0 && status !== 0) wrong.push(`the suite ended with ${status}:\n${said}`)
    note("authorization", version, found, wrong)
    console.log(`authorization ${version}: ${found.length} scenarios, ${wrong.length} complaints`)
    for (const line of wrong) console.log(`  ${line}`)
    return wrong
  } finally {
    server.stop()
    rmSync(out, { recursive: true, force: true })
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const isWriting = process.argv.includes("--write")
  const args = process.argv.slice(2).filter((arg) => arg !== "--write")
  const at = args.indexOf("--scenario")
  const scenario = at === -1 ? undefined : args.splice(at, 2)[1]
  const upstreamAt = args.indexOf("--upstream")
  const upstream = upstreamAt === -1 ? undefined : args.splice(upstreamAt, 2)[1]
  const named = args.filter((arg) => arg in clientScenarios)
  const versions = named.length > 0 ? named : Object.keys(clientScenarios)
  const all = !["server", "client", "authorization", "proxy", "nodes"].some((leg) => args.includes(leg))
  const runs = (leg) => all || args.includes(leg)
  install()
  const expected = JSON.parse(readFileSync(join(home, "expected.json"), "utf8"))
  let complaints = 0
  const add = (wrong) => {
    complaints += wrong.length
  }
  /** The scenarios of servers of all revisions, against what `open` starts. */
  const serverLegs = async (name, open) => {
    for (const version of versions) {
      if (scenarios[version] !== undefined) {
        const own = expected[name][version] ?? {}
        add(await leg(name, () => open(version), version, own, scenario))
      }
      if (version === "extension") {
        const own = expected[name].extension ?? {}
        add(await extensionLeg(name, () => open("2026-07-28"), own, scenario))
      }
    }
  }
  const nodesLegs = async () => {
    if (!runs("nodes")) return
    const redis = await startRedis()
    await serverLegs("nodes", (version) => throughNodes(version, redis.url)).finally(redis.stop)
  }
  const otherLegs = async () => {
    if (runs("server")) await serverLegs("server", everything)
    for (const version of versions) {
      if (runs("client")) add(await clientLegs(version, expected.client[version] ?? {}, scenario))
    }
    for (const version of versions) {
      if (!withoutRevision.includes(version) && scenario === undefined && runs("authorization")) {
        add(await authorizationLeg(version, expected.authorization[version] ?? {}))
      }
    }
  }
  const proxyLegs = async () => {
    for (const version of versions) {
      const behind = upstream ?? proxied[version]
      if (behind !== undefined && runs("proxy")) {
        const through = () => throughProxy(version, behind)
        add(await leg("proxy", through, version, expected.proxy[version] ?? {}, scenario))
      }
    }
  }
  // Beside each other: each waits for processes most of the time.
  await Promise.all([nodesLegs().then(proxyLegs), otherLegs()])
  if (all && named.length === 0 && scenario === undefined && upstream === undefined) {
    const table = tableOf(passed, versions)
    console.log(`\n${table}`)
    const readme = join(root, "README.md")
    const before = readFileSync(readme, "utf8")
    const after = withTable(before, table)
    if (isWriting && after !== undefined) writeFileSync(readme, after)
    else if (before !== after) {
      console.log("The table of README.md says something else: run npm run conformance -- --write")
      complaints++
    }
  }
  if (complaints > 0) process.exitCode = 1
}
