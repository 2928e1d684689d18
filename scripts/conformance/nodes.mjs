// A server on several nodes, for the conformance run: Redis, the nodes, and a load balancer without affinity in front, which
// passes every request on to the next node. `redis-server` is installed where it is not there and this runs as root.
import { execFileSync, spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, request } from "node:http"
import { createServer as createTcpServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"

/**
 * A port that nothing listens on. Linux gives the ports from 32768 on to whatever asks for any: one of those would be taken before it
 * is used.
 */
export const freePort = (attempts = 100) =>
  new Promise((resolve, reject) => {
    const port = randomInt(10_000, 32_000)
    const server = createTcpServer()
    server.on("error", (error) => attempts > 1 ? freePort(attempts - 1).then(resolve, reject) : reject(error))
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(port)))
  })

/** What a program has printed when this is a part of it. Fails when the program ends, or has not printed it after a minute. */
export const until = (child, name, pattern, limit = 60_000) =>
  new Promise((resolve, reject) => {
    let said = ""
    const late = setTimeout(() => {
      child.kill("SIGKILL")
      reject(new Error(`${name} has not printed ${pattern} within ${limit / 1000} s:\n${said}`))
    }, limit)
    child.stdout.setEncoding("utf8").on("data", (text) => {
      said += text
      if (!pattern.test(said)) return
      clearTimeout(late)
      resolve(said)
    })
    child.on("error", (error) => {
      clearTimeout(late)
      reject(error)
    })
    child.on("close", (code, signal) => {
      clearTimeout(late)
      reject(new Error(`${name} ended with ${signal ?? code}:\n${said}`))
    })
  })

/** Ends a program in order, and kills one that still runs after so many milliseconds: it would keep this process for ever. */
export const end = (child, patience = 20_000) => {
  child.kill("SIGTERM")
  // The child keeps this process as long as it runs.
  setTimeout(() => child.kill("SIGKILL"), patience).unref()
}

const hasRedis = () => {
  try {
    execFileSync("redis-server", ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

const installRedis = () => {
  if (hasRedis()) return
  if (process.getuid?.() === 0) {
    console.log("installing redis-server")
    const apt = "apt-get -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=60"
    const install = `${apt} update && ${apt} install -y --no-install-recommends redis-server`
    execFileSync("bash", ["-c", install], { stdio: ["ignore", "ignore", "inherit"], timeout: 240_000 })
  }
  if (!hasRedis()) throw new Error("This needs redis-server: install it (Debian: apt install redis-server)")
}

/** Starts a Redis, which stores nothing on disk. */
export const startRedis = async () => {
  installRedis()
  const port = await freePort()
  const folder = mkdtempSync(join(tmpdir(), "conformance-redis-"))
  const args = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder, "--save", ""]
  const child = spawn("redis-server", args, { stdio: ["ignore", "pipe", "inherit"] })
  const stop = () => {
    child.kill("SIGKILL")
    rmSync(folder, { recursive: true, force: true })
  }
  process.once("exit", stop)
  await until(child, "redis-server", /Ready to accept connections/)
  return { url: `redis://127.0.0.1:${port}`, stop }
}

/** Listens, and passes each request on to the next of these URLs. `counts` has the number of requests of each. */
export const balance = (urls) =>
  new Promise((resolve, reject) => {
    const counts = urls.map(() => 0)
    let next = 0
    const server = createServer((incoming, response) => {
      const at = next++ % urls.length
      counts[at]++
      const { hostname, port } = new URL(urls[at])
      const { method, rawHeaders: headers, url: path } = incoming
      const outgoing = request({ hostname, port, method, path, headers, agent: false }, (answer) => {
        response.writeHead(answer.statusCode, answer.rawHeaders)
        response.flushHeaders()
        answer.pipe(response)
        answer.on("error", () => response.destroy())
      })
      outgoing.on("error", () => response.headersSent ? response.destroy() : response.writeHead(502).end())
      response.on("close", () => outgoing.destroy())
      incoming.pipe(outgoing)
    })
    server.on("error", reject)
    server.listen(0, "127.0.0.1", () =>
      resolve({
        url: `http://127.0.0.1:${server.address().port}${new URL(urls[0]).pathname}`,
        counts,
        stop: () => {
          server.close()
          server.closeAllConnections()
        }
      }))
  })
