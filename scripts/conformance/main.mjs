// The official conformance suite against our everything-server and our client, one revision at a time. Each leg has a
// server that speaks that revision and no other, because the suite offers the newest whatever it is told to test; clients
// are run one by one, because a suite of them does not look at how they end. What the suite prints is not trusted: its
// checks are read here, and whatever is not SUCCESS or INFO must be expected, with a reason.
//
//   node scripts/conformance/main.mjs [server] [client] [2025-11-25 ...] [--scenario <name>]
import { spawn, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const home = dirname(fileURLToPath(import.meta.url))
const root = join(home, "..", "..")
const node24 = join(home, "node_modules/node/bin/node")
const suite = join(home, "node_modules/@modelcontextprotocol/conformance/dist/index.js")

/** How many scenarios each leg has: fewer would pass in silence. */
const scenarios = { "2025-03-26": 1, "2025-06-18": 27, "2025-11-25": 33, "2026-07-28": 40 }

/** Those of clients, without authorization: of 2025-03-26 the suite has none. */
const clientScenarios = {
  "2025-03-26": [],
  "2025-06-18": ["initialize", "tools_call"],
  "2025-11-25": [
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "json-schema-2020-12-preservation"
  ],
  "2026-07-28": [
    "tools_call",
    "request-metadata",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation"
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

/** Starts the everything-server with one revision, and gives its address once it says it. */
const everything = (version) =>
  new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [join(root, "packages/examples/dist/everything/server.js"), "--port", "0", "--version", version],
      { stdio: ["ignore", "pipe", "inherit"] }
    )
    let said = ""
    child.stdout.on("data", (chunk) => {
      said += chunk
      const url = /everything is at (\S+)/.exec(said)?.[1]
      if (url !== undefined) resolve({ url, stop: () => child.kill("SIGTERM"), ended: () => child.exitCode !== null })
    })
    child.on("error", reject)
    child.on("exit", (code) => reject(new Error(`The everything-server ended with ${code}`)))
  })

const run = (args) =>
  new Promise((resolve, reject) => {
    const child = spawn(node24, [suite, ...args], { stdio: ["ignore", "pipe", "pipe"] })
    let said = ""
    child.stdout.on("data", (chunk) => said += chunk)
    child.stderr.on("data", (chunk) => said += chunk)
    child.on("error", reject)
    child.on("exit", (status) => resolve({ status, said }))
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

const leg = async (version, expected, scenario) => {
  const server = await everything(version)
  const out = mkdtempSync(join(tmpdir(), "conformance-"))
  try {
    const { said, status } = await run([
      "server",
      "--url",
      server.url,
      ...scenario === undefined ? ["--suite", "all"] : ["--scenario", scenario],
      "--spec-version",
      version,
      "-o",
      out
    ])
    const found = results(out, "server")
    const wrong = [
      ...judge(found, scenario === undefined ? expected : {}, scenario === undefined ? scenarios[version] : 1),
      ...server.ended() ? ["the everything-server has ended"] : []
    ]
    const checks = found.flatMap((one) => one.checks)
    console.log(
      `server ${version}: ${found.length} scenarios, ${checks.filter(({ status }) => status === "SUCCESS").length} of ${
        checks.filter(({ status }) => status !== "INFO").length
      } checks passed, ${wrong.length} complaints`
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

/** Of the suite's list of client scenarios, those without authorization that are not among ours. */
export const unnamed = (list, ours) =>
  [...list.matchAll(/^\s*- (\S+) \[/gm)]
    .map(([, name]) => name)
    .filter((name) => !name.startsWith("auth/") && !ours.includes(name))

const clientLeg = async (version, scenario, expected) => {
  const out = mkdtempSync(join(tmpdir(), "conformance-"))
  try {
    const client = join(root, "packages/examples/dist/everything/client.js")
    const { said, status } = await run([
      "client",
      "--command",
      `${process.execPath} ${client}`,
      "--scenario",
      scenario,
      "--spec-version",
      version,
      "-o",
      out
    ])
    const found = results(out, "client")
    const wrong = judge(found, expected, 1)
    return wrong.length === 0 && status !== 0 ? [`${scenario}: the suite ended with ${status}:\n${said}`] : wrong
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

const clientLegs = async (version, expected, only) => {
  const names = clientScenarios[version].filter((name) => only === undefined || name === only)
  const { said } = await run(["list", "--client", "--spec-version", version])
  const wrong = unnamed(said, clientScenarios[version]).map((name) => `${name}: the suite has it, and we do not run it`)
  for (const scenario of names) {
    const own = Object.fromEntries(Object.entries(expected).filter(([key]) => key.startsWith(`${scenario}/`)))
    for (const line of await clientLeg(version, scenario, own)) wrong.push(line)
  }
  console.log(`client ${version}: ${names.length} scenarios, ${wrong.length} complaints`)
  for (const line of wrong) console.log(`  ${line}`)
  return wrong
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const args = process.argv.slice(2)
  const at = args.indexOf("--scenario")
  const scenario = at === -1 ? undefined : args.splice(at, 2)[1]
  const named = args.filter((arg) => arg in scenarios)
  const versions = named.length > 0 ? named : Object.keys(scenarios)
  const both = !args.includes("server") && !args.includes("client")
  install()
  const expected = JSON.parse(readFileSync(join(home, "expected.json"), "utf8"))
  let complaints = 0
  for (const version of versions) {
    if (both || args.includes("server")) {
      complaints += (await leg(version, expected.server[version] ?? {}, scenario)).length
    }
    if (clientScenarios[version] !== undefined && (both || args.includes("client"))) {
      complaints += (await clientLegs(version, expected.client[version] ?? {}, scenario)).length
    }
  }
  if (complaints > 0) process.exitCode = 1
}
