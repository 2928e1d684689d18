import { assert, describe, it } from "@effect/vitest"
import * as Environment from "../../src/subprocess/Environment.js"

describe("Environment", () => {
  it("inherits only the listed variables", () => {
    const from = {
      HOME: "/home/me",
      PATH: "/bin",
      TERM: "xterm",
      API_KEY: "secret",
      NODE_OPTIONS: "--inspect",
      USER: ""
    }
    assert.deepStrictEqual(Environment.defaultEnvironment(from, "linux"), {
      HOME: "/home/me",
      PATH: "/bin",
      TERM: "xterm",
      USER: ""
    })
  })

  it("does not inherit shell functions", () => {
    const from = { HOME: "() { :; }; echo bad", SHELL: "/bin/sh" }
    assert.deepStrictEqual(Environment.defaultEnvironment(from, "linux"), { SHELL: "/bin/sh" })
  })

  it("has another list for Windows", () => {
    const from = { PATH: "C:\\bin", SYSTEMROOT: "C:\\Windows", HOME: "x", USERPROFILE: "C:\\Users\\me" }
    assert.deepStrictEqual(Environment.defaultEnvironment(from, "win32"), {
      PATH: "C:\\bin",
      SYSTEMROOT: "C:\\Windows",
      USERPROFILE: "C:\\Users\\me"
    })
  })

  it("reads the environment of this process by default", () => {
    assert.strictEqual(Environment.defaultEnvironment().PATH, process.env.PATH)
  })

  it("prefers the given variables, and removes those that are undefined", () => {
    assert.deepStrictEqual(
      Environment.merge({ HOME: "/a", PATH: "/b" }, { PATH: "/c", KEY: "k", HOME: undefined }, "linux"),
      { PATH: "/c", KEY: "k" }
    )
  })

  it("ignores the case of names on Windows", () => {
    assert.deepStrictEqual(Environment.merge({ PATH: "a" }, { Path: "b" }, "win32"), { Path: "b" })
    assert.deepStrictEqual(Environment.merge({ PATH: "a" }, { Path: "b" }, "linux"), { PATH: "a", Path: "b" })
  })
})
