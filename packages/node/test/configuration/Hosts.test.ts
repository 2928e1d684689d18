import { assert, describe, it } from "@effect/vitest"
import type * as ServersConfig from "@effect-mcp/core/ServersConfig"
import * as ConfiguredServers from "@effect-mcp/node/ConfiguredServers"
import { Duration, Effect, Option } from "effect"
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as Hosts from "../../src/configuration/Hosts.js"
import { environment, hostFiles } from "./HostFiles.js"

/** A folder that is removed when the scope closes. */
const folder = Effect.acquireRelease(
  Effect.sync(() => realpathSync(mkdtempSync(join(tmpdir(), "effect-mcp-hosts-")))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const write = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** An entry as a test compares it. */
const plain = (entry: ServersConfig.Entry): object => {
  if (entry._tag !== "Server") return entry
  const { timeout, ...server } = entry.server
  return { ...server, ...(timeout === undefined ? undefined : { timeout: Duration.toMillis(timeout) }) }
}

const options = (home: string) => ({ home, folder: "/nowhere", environment: {} })

// The list of platforms is that of the places.
const isPosix = process.platform === "linux"

describe("The files of a host", () => {
  for (const host of ConfiguredServers.hosts) {
    const file = hostFiles[host]
    it.scoped.runIf(isPosix)(
      `are used as its page shows them, and one broken entry leaves out itself: ${host}`,
      () =>
        Effect.gen(function*() {
          const home = yield* folder
          const path = join(home, file.path)
          write(path, file.text)
          write(join(home, ".env"), "FROM_FILE=yes\nKEY=other\n")
          const found = yield* ConfiguredServers.userFiles(options(home))
          assert.deepStrictEqual(found.map(({ error, file, host }) => [file, host, error?.message]), [
            [path, host, undefined]
          ])
          const entries = yield* ConfiguredServers.fill(found[0]!.entries, { environment, folder: home })
          const expected = JSON.parse(
            JSON.stringify(file.servers).replaceAll("$FOLDER", home).replaceAll("$HOME", homedir())
          ) as Record<string, object>
          assert.deepStrictEqual(
            Object.fromEntries([...entries].map(([name, entry]) => [name, plain(entry)])),
            {
              ...expected,
              ...Object.fromEntries((file.disabled ?? []).map((name) => [name, { _tag: "Disabled" }])),
              broken: { _tag: "LeftOut", file: path, ...file.broken }
            }
          )
        })
    )
  }

  it("are in places of their own on each platform", () => {
    const files = (platform: NodeJS.Platform, environment: Record<string, string> = {}) =>
      Object.fromEntries(Hosts.hosts.map((host) => [
        host.name,
        Hosts.filesOf(host, { platform, home: platform === "win32" ? "C:\\Users\\ada" : "/home/ada", environment })
      ]))
    const linux = files("linux")
    assert.deepStrictEqual(linux["vscode"], ["/home/ada/.config/Code/User/mcp.json"])
    assert.deepStrictEqual(linux["claude-code"], ["/home/ada/.claude.json"])
    assert.deepStrictEqual(linux["codex"], ["/home/ada/.codex/config.toml"])
    const mac = files("darwin")
    assert.deepStrictEqual(mac["vscode"], ["/home/ada/Library/Application Support/Code/User/mcp.json"])
    assert.deepStrictEqual(mac["opencode"], [
      "/home/ada/.config/opencode/opencode.jsonc",
      "/home/ada/.config/opencode/opencode.json"
    ])
    const windows = files("win32")
    assert.deepStrictEqual(windows["claude-desktop"], [
      "C:\\Users\\ada\\AppData\\Roaming\\Claude\\claude_desktop_config.json"
    ])
    assert.deepStrictEqual(windows["zed"], ["C:\\Users\\ada\\AppData\\Roaming\\Zed\\settings.json"])
    assert.deepStrictEqual(windows["gemini-cli"], ["C:\\Users\\ada\\.gemini\\settings.json"])
    const moved = files("linux", { XDG_CONFIG_HOME: "/conf", CODEX_HOME: "/codex", CLAUDE_CONFIG_DIR: "not/absolute" })
    assert.deepStrictEqual(moved["zed"], ["/conf/zed/settings.json"])
    assert.deepStrictEqual(moved["codex"], ["/codex/config.toml"])
    assert.deepStrictEqual(moved["claude-code"], ["/home/ada/.claude.json"])
  })

  it("are those of the table in the guide", () => {
    const page = readFileSync(new URL("../../../../docs/host/05-many-servers.md", import.meta.url), "utf8")
    const section = page.slice(page.indexOf("## The files of hosts"), page.indexOf("## The options of"))
    const rows = section.split("\n").filter((line) => /^\| .* \| `/.test(line))
    const cells = rows.map((row) => row.split("|").slice(1, -1).map((cell) => cell.trim()))
    assert.deepStrictEqual(
      cells.map(([title, name, , folder, , timeout]) => [title, name, folder, timeout?.replace(/,.*/, "")]),
      Hosts.hosts.map(({ decoding, folderFiles, name, title }) => [
        title,
        `\`${name}\``,
        folderFiles.map((file) => `\`${file}\``).join(", "),
        decoding.timeoutUnit === "millis" ? "milliseconds" : "seconds"
      ])
    )
    for (const [index, { decoding, files }] of Hosts.hosts.entries()) {
      const [, , own = "", , members = "", , variables = ""] = cells[index]!
      for (const file of files.all) assert.include(own, file.split("/").at(-1)!)
      for (const path of decoding.members ?? []) assert.include(members, `\`${path.join(".")}\``)
      assert.include(variables, `\`${decoding.variables ?? "${NAME}"}\``)
    }
  })

  it("are known by their place, where no host is named", () => {
    const of = (file: string) =>
      Option.fromNullable(Hosts.ofPath(file, { platform: "linux", home: "/home/ada", environment: {} })).pipe(
        Option.map(({ name }) => name),
        Option.getOrNull
      )
    assert.strictEqual(of("/home/ada/.config/zed/settings.json"), "zed")
    assert.strictEqual(of("/work/.vscode/mcp.json"), "vscode")
    assert.strictEqual(of("/work/opencode.json"), "opencode")
    assert.strictEqual(of("C:\\work\\.cursor\\mcp.json"), "cursor")
    assert.isNull(of("/work/mcp.json"))
    assert.isNull(of("/work/my-opencode.json"))
  })
})

describe("The files of a user and of a folder", () => {
  const servers = (...names: ReadonlyArray<string>) =>
    JSON.stringify({ mcpServers: Object.fromEntries(names.map((name) => [name, { command: name }])) })

  it.scoped.runIf(isPosix)(
    "are read apart, and a file of the user is none of the folder",
    () =>
      Effect.gen(function*() {
        const home = yield* folder
        write(join(home, ".cursor/mcp.json"), servers("mine"))
        write(join(home, ".mcp.json"), servers("theirs"))
        write(join(home, ".gemini/settings.json"), "{ \"theme\": \"dark\" }")
        const files = (found: ReadonlyArray<ConfiguredServers.Configuration>) => found.map(({ file }) => file)
        assert.deepStrictEqual(files(yield* ConfiguredServers.userFiles(options(home))), [
          join(home, ".cursor/mcp.json")
        ])
        assert.deepStrictEqual(files(yield* ConfiguredServers.folderFiles(home, options(home))), [
          join(home, ".mcp.json")
        ])
        assert.lengthOf(yield* ConfiguredServers.userFiles({ ...options(home), hosts: ["zed"] }), 0)
      })
  )

  it.scoped.runIf(isPosix)(
    "are the user's, where Claude Code keeps them for one folder in the user's file",
    () =>
      Effect.gen(function*() {
        const home = yield* folder
        const work = join(home, "work")
        const local = (mcpServers: unknown) => ({ [`${work}/`]: { mcpServers }, [home]: { mcpServers: { no: {} } } })
        const file = (projects: unknown, mcpServers: unknown) => {
          write(join(home, ".claude.json"), JSON.stringify({ projects, mcpServers }))
          return Effect.map(ConfiguredServers.userFiles({ ...options(home), folder: work }), ([found]) => found!)
        }
        const { entries } = yield* file(local({ a: { command: "local" } }), {
          b: { command: "b" },
          a: { command: "user" }
        })
        assert.deepStrictEqual([...entries].map(([name, entry]) => [name, plain(entry)]), [
          ["a", { command: "local" }],
          ["b", { command: "b" }]
        ])
        assert.deepStrictEqual([...(yield* file(local({ a: { command: "local" } }), undefined)).entries.keys()], ["a"])
        assert.deepStrictEqual([...(yield* file(5, { b: { command: "b" } })).entries.keys()], ["b"])
        assert.match((yield* file(local([]), { b: { command: "b" } })).error!.message, /"mcpServers" is not an object/)
        assert.match((yield* file(local({ a: {} }), [])).error!.message, /"mcpServers" is not an object/)

        // A file of the folder has no such scope.
        write(join(work, ".mcp.json"), JSON.stringify({ projects: local({ a: { command: "a" } }) }))
        assert.lengthOf(yield* ConfiguredServers.folderFiles(work, { ...options(home), folder: work }), 0)
      })
  )

  it.scoped.runIf(isPosix)(
    "may be large in the home of the user, where hosts keep more than servers, and not in a folder",
    () =>
      Effect.gen(function*() {
        const home = yield* folder
        const work = join(home, "work")
        const text = `${" ".repeat(2_000_000)}${servers("a")}`
        write(join(home, ".claude.json"), text)
        write(join(work, ".mcp.json"), text)
        const [own] = yield* ConfiguredServers.userFiles(options(home))
        assert.deepStrictEqual([...own!.entries.keys()], ["a"])
        const [foreign] = yield* ConfiguredServers.folderFiles(work, options(home))
        assert.deepStrictEqual([own!.isOfFolder, foreign!.isOfFolder], [undefined, true])
        assert.strictEqual(
          foreign!.error!.message,
          `${join(work, ".mcp.json")} cannot be read: it has more than 1048576 bytes`
        )
      })
  )

  it.scoped("are named with what is wrong with them, and without a quote of what they have", () =>
    Effect.gen(function*() {
      const home = yield* folder
      const problem = (path: string, text: string) =>
        Effect.sync(() => write(join(home, path), text)).pipe(
          Effect.zipRight(Effect.flip(ConfiguredServers.read(join(home, path), options(home)))),
          Effect.map(({ message }) => message.replace(home, ""))
        )
      assert.strictEqual(
        yield* problem("a.json", "{\n  \"mcpServers\": { secret }\n}"),
        "/a.json cannot be read: it is not JSON: invalid symbol in line 2, column 19"
      )
      assert.match(yield* problem("b.json", "{ \"mcpServers\": {}"), /close brace expected in line 1, column 19/)
      assert.match(
        yield* problem("c.toml", "[mcp_servers.a]\ncommand = \"secret\n"),
        /^\/c\.toml cannot be read: it is not TOML: [^"]* in line 2, column \d+$/
      )
      assert.strictEqual(yield* problem("d.json", "[]"), "/d.json cannot be read: it has no \"mcpServers\"")
      assert.strictEqual(
        (yield* Effect.flip(ConfiguredServers.read("/nowhere/at/all.json"))).message,
        "/nowhere/at/all.json cannot be read: there is no such file"
      )
    }))
})
