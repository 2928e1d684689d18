// What the conformance run must not overlook.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { isGood, judge, results, tableOf, unnamed, withTable } from "./main.mjs"
import { balance, end, freePort, until } from "./nodes.mjs"

const check = (id, status, errorMessage) => ({ id, status, errorMessage })
const scenario = (name, ...checks) => ({ scenario: name, checks })

test("a leg in which everything passed has no complaints; what is only told is none either", () => {
  assert.deepEqual(judge([scenario("ping", check("a", "SUCCESS"), check("b", "INFO"))], {}, 1), [])
})

test("a failure, a warning and a check that was skipped are complaints", () => {
  for (const status of ["FAILURE", "WARNING", "SKIPPED"]) {
    assert.deepEqual(judge([scenario("ping", check("a", status, "why"))], {}, 1), [`ping/a: ${status}: why`])
  }
})

test("what is expected is not a complaint, with the status that is expected and no other", () => {
  const expected = { "ping/a": { status: "SKIPPED", reason: "it has none" } }
  assert.deepEqual(judge([scenario("ping", check("a", "SKIPPED"))], expected, 1), [])
  assert.deepEqual(judge([scenario("ping", check("a", "FAILURE", "why"))], expected, 1), [
    "ping/a: FAILURE: why",
    "ping/a: expected, and not met: stale"
  ])
})

test("an expectation that is not met is stale", () => {
  assert.deepEqual(judge([scenario("ping", check("a", "SUCCESS"))], { "ping/a": { status: "WARNING" } }, 1), [
    "ping/a: expected, and not met: stale"
  ])
})

test("a scenario with a failure that is expected has not passed; one with a skipped check has", () => {
  for (const [status, good] of [["FAILURE", false], ["WARNING", false], ["SKIPPED", true], ["INFO", true]]) {
    assert.equal(isGood(scenario("ping", check("a", "SUCCESS"), check("b", status)), []), good, status)
  }
  assert.equal(isGood(scenario("ping", check("a", "SUCCESS")), ["ping/a: expected, and not met: stale"]), false)
  assert.equal(isGood(scenario("ping", check("a", "SUCCESS")), ["ping-pong/a: FAILURE: why"]), true)
})

test("a scenario that checked nothing, and one that was not run, are complaints", () => {
  assert.deepEqual(judge([scenario("ping")], {}, 1), ["ping: it checked nothing"])
  assert.deepEqual(judge([scenario("ping", check("a", "SUCCESS"))], {}, 2), ["1 scenarios were run, and not 2"])
})

test("results are read from what the suite leaves behind", () => {
  const out = mkdtempSync(join(tmpdir(), "results-"))
  try {
    for (const name of ["server-ping-2026-01-01T00-00-00-000Z", "server-tools-list-2026-01-01T00-00-01-000Z"]) {
      mkdirSync(join(out, name))
      writeFileSync(join(out, name, "checks.json"), JSON.stringify([check("a", "SUCCESS")]))
    }
    assert.deepEqual(results(out, "server").map((one) => one.scenario), ["ping", "tools-list"])
  } finally {
    rmSync(out, { recursive: true })
  }
})

test("a client scenario that the suite has, and that is not among ours, is found", () => {
  const list = "Client scenarios (test against a client):\n  - initialize [2025-11-25]\n  - new-one [2025-11-25]\n" +
    "  - auth/basic [2025-11-25]\n"
  assert.deepEqual(unnamed(list, ["initialize"]), ["new-one", "auth/basic"])
  assert.deepEqual(unnamed(list, ["initialize", "new-one", "auth/basic"]), [])
})

const serve = (listener) =>
  new Promise((resolve) => {
    const server = createServer(listener).listen(0, "127.0.0.1", () =>
      resolve({
        url: `http://127.0.0.1:${server.address().port}/mcp`,
        stop: () => server.close()
      }))
  })

test("a balancer passes each request on to the next server, streams the answer, and cuts what its client has left", async () => {
  const left = []
  const servers = await Promise.all(["a", "b"].map((name) =>
    serve((request, response) => {
      response.on("close", () => left.push(name))
      response.writeHead(207, { "X-Name": name })
      request.pipe(response, { end: false })
    })
  ))
  const balancer = await balance(servers.map(({ url }) => url))
  try {
    for (const name of ["a", "b", "a"]) {
      const leaving = new AbortController()
      const answer = await fetch(balancer.url, { method: "POST", body: "first", signal: leaving.signal })
      const { value } = await answer.body.getReader().read()
      assert.deepEqual([answer.status, answer.headers.get("x-name")], [207, name])
      assert.equal(new TextDecoder().decode(value), "first")
      leaving.abort()
    }
    while (left.length < 3) await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(balancer.counts, [2, 1])
    servers.forEach(({ stop }) => stop())
    assert.equal((await fetch(balancer.url)).status, 502)
  } finally {
    balancer.stop()
  }
})

test("a program that ends before it is ready, or never is, fails with what it has printed", async () => {
  const program = (code) => spawn(process.execPath, ["-e", code], { stdio: ["ignore", "pipe", "inherit"] })
  const ready = (code, limit) => until(program(code), "it", /ready (\d+)(?=\s)/, limit)
  assert.match(await ready("process.stdout.write(\"rea\"); setTimeout(console.log, 50, \"dy 1234\")"), /ready 1234/)
  await assert.rejects(ready("console.log(\"no\"); process.exitCode = 3"), /^Error: it ended with 3:\nno/)
  const idle = "console.log(\"still\"); setInterval(() => {}, 1000)"
  await assert.rejects(ready(idle, 1000), /^Error: it has not printed \/ready .* within 1 s/)
})

test("a program that SIGTERM does not end is killed, so that it keeps the run no longer", async () => {
  const idle = "process.on(\"SIGTERM\", () => {}); console.log(\"ready\"); setInterval(() => {}, 1000)"
  const child = spawn(process.execPath, ["-e", idle], { stdio: ["ignore", "pipe", "inherit"] })
  await until(child, "it", /ready/)
  end(child, 50)
  const signal = await new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)))
  assert.equal(signal, "SIGKILL")
})

test("a free port is none that Linux gives to what asks for any", async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, () => freePort()))
  assert.ok(ports.every((port) => port >= 10_000 && port < 32_000), ports.join())
})

test("the table says by revision how many scenarios passed, and takes the place of the README's", () => {
  const passed = new Map([["server 1", { all: 3, good: 3 }], ["client 1", { all: 2, good: 1 }], ["client extension", {
    all: 1,
    good: 1
  }]])
  const table = tableOf(passed, ["1", "extension"])
  assert.match(table, /^\| 1 \| 3 of 3 \| \| \| 1 of 2 \| \|$/m)
  assert.match(tableOf(passed, ["latest"]), /^\| npm's `latest` \|/m)
  assert.match(table, /^\| extensions \| \| \| \| 1 of 1 \| \|$/m)
  const readme = "a\n<!-- conformance: made by npm run conformance -- --write -->\n\nold\n\n<!-- end -->\nb"
  assert.equal(withTable(readme, "new"), readme.replace("old", "new"))
  assert.equal(withTable("no place", "new"), undefined)
})
