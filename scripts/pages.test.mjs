// The texts of errors are found in the sources, however they are put together; the changelog and what machines read hold what they are made
// of; a dead link is found wherever it is; and the pictures are drawn.
import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, describe, it } from "node:test"
import { localOf } from "./pages.mjs"
import { changelogOf } from "./pages/changelog.mjs"
import { deadLinks, site } from "./pages/links.mjs"
import { guidesOf, llmsFullOf, llmsOf } from "./pages/llms.mjs"
import { messagesOf, sentencesOf } from "./pages/messages.mjs"
import { packagesGraph, picturesOf } from "./pictures.mjs"
import { filesUnder, root } from "./workspace.mjs"

describe("the page of texts", () => {
  it("has each sentence once, with … for values, and sums as one", () => {
    assert.deepEqual(
      sentencesOf("fail(`The tool ${name} is gone, and ` + \"nothing has run\"); const s: \"one two three four\" = x"),
      [
        "The tool … is gone, and nothing has run"
      ]
    )
    assert.deepEqual(
      sentencesOf("f('a b'); f('SELECT a FROM b WHERE c'); f('the same text twice'); f('the same text twice')"),
      [
        "the same text twice"
      ]
    )
  })

  it("lists a short text where it is an error or a line of the log, and nowhere else", () => {
    for (
      const [source, texts] of [
        ["new InvalidParams({ message: `Unknown tool: ${name}` })", ["Unknown tool: …"]],
        ["class A { get message() { return a ? \"Connection closed\" : `Connection closed: ${a}` } }", [
          "Connection closed",
          "Connection closed: …"
        ]],
        ["Effect.logWarning(\"onSession failed\", cause)", ["onSession failed"]],
        ["const invalid = () => new Malformed(`Parse error: ${why}`)", ["Parse error: …"]],
        ["const limit = \"5 seconds\"; headers({ authorization: `Basic ${text}` }); Schedule.spaced(\"1 minute\")", []],
        ["unauthorized(`Unauthorized: ${why}`, { title: \"Unknown title\" })", ["Unauthorized: …"]]
      ]
    ) assert.deepEqual(sentencesOf(source), texts, source)
  })

  it("puts a text under what its reader was doing, and names a source that belongs nowhere", () => {
    const source = (path) => ({ path, text: "fail('The port is taken by another program')" })
    const { lost, page } = messagesOf([
      source("packages/node/src/HttpServer.ts"),
      source("packages/other/src/Other.ts")
    ])
    assert.deepEqual(lost, ["packages/other/src/Other.ts"])
    const section = page.split(/^## /m).find((one) => one.startsWith("A server does not start"))
    assert.match(section, /^- `The port is taken by another program`$/m)
  })
})

describe("the changelog", () => {
  const text = (kind, body) => ({ text: `---\n"@effect-mcp/core": ${kind}\n---\n\n${body}\n` })

  it("lists what is new and what is mended, with the packages", () => {
    const page = changelogOf([text("minor", "Tasks\nlast."), text("patch", "A leak is mended."), {
      text: "# Changesets\n"
    }], [])
    assert.match(
      page,
      /### New and changed\n\n- \*\*core\*\*: Tasks last\.\n\n### Mended\n\n- \*\*core\*\*: A leak/
    )
    assert.doesNotMatch(page, /## Releases/)
  })

  it("leads to the changelog of each package that was released", () => {
    assert.match(changelogOf([], ["server"]), /- \[server\]\(\.\.\/packages\/server\/CHANGELOG\.md\)/)
  })
})

describe("what machines read", () => {
  const pages = {
    "docs/server/01-first.md":
      "# First\n\nA server is a layer.\n\n```sh\n# not a heading, [no](link.md)\n```\n\n[next](02-second.md#two) [source](../../packages/one/src/One.ts)\n",
    "docs/faq.md": "# FAQ\n\nQuestions.\n"
  }
  const entrance =
    "# Docs\n\n## Authors\n\n[first](server/01-first.md), [again](server/01-first.md#a), [faq](faq.md), [why](decisions/1.md), [all](methods.md)\n"
  const guides = guidesOf(entrance, (path) => pages[path])
  const isPage = (path) => path.startsWith("docs/")

  it("has the guides in the order of the entrance, each once", () => {
    assert.deepEqual(guides.map(({ path }) => path), Object.keys(pages))
  })

  it("begins with the programs of the README, and says where the guides are", () => {
    const text = llmsOf(
      "# Name\n\nWhat it is: [guides](docs/README.md).\n\n## A server\n\n```ts\ncode\n```\n\n## Licence\n\nMIT\n",
      entrance,
      isPage
    )
    assert.match(text, /^# Name\n\nWhat it is: \[guides\]\(https:\S+\/docs\/README\.md\)\.\n\nImport each module/)
    assert.match(
      text,
      /\n## A server\n\n```ts\ncode\n```\n\n## Authors\n\n\[first\]\(https:\S+\/docs\/server\/01-first\.md\), /
    )
    assert.doesNotMatch(text, /MIT|# Docs/)
  })

  it("has all guides, with their code as it is and with addresses for links", () => {
    const all = llmsFullOf(guides, isPage)
    assert.match(all, /^# Effect MCP: all guides\n\n## First\n/)
    assert.match(all, /^# not a heading, \[no\]\(link\.md\)$/m)
    assert.match(
      all,
      /^\[next\]\(https:\S+\/docs\/server\/02-second\.md#two\) \[source\]\(https:\S+\/blob\/main\/packages\/one\/src\/One\.ts\)$/m
    )
    assert.match(all, /\n## FAQ\n\nQuestions\.\n$/)
  })
})

describe("the pages", () => {
  const isPage = (path) => ["docs/one.md", "docs/deep/two.md", "docs/messages.md"].includes(path)
  const local = (page, ...targets) => {
    const links = targets.map((target) => `[a](${target})`).join(" ")
    return Array.from(localOf(page, links, isPage).matchAll(/\(([^)]*)\)/g), ([, target]) => target)
  }

  it("link to each other, also where the repository has no such page", () => {
    assert.deepEqual(local("docs/deep/two.md", "../one.md#a", "#b", `${site}docs/messages.html#c`, `${site}llms.txt`), [
      "../one.md#a",
      "#b",
      "../messages.md#c",
      `${site}llms.txt`
    ])
  })

  it("link to the repository for what is not a page", () => {
    assert.deepEqual(local("docs/one.md", "../packages/a/src/A.ts", "decisions/", "https://example.com/one.md"), [
      "https://github.com/effect-mcp/effect-mcp/blob/main/packages/a/src/A.ts",
      "https://github.com/effect-mcp/effect-mcp/tree/main/docs/decisions",
      "https://example.com/one.md"
    ])
  })

  it("have no dead link: to a page, to an anchor, to a picture, to the repository, to the site", () => {
    const at = mkdtempSync(join(tmpdir(), "pages-"))
    after(() => rmSync(at, { recursive: true, force: true }))
    const repository = "https://github.com/effect-mcp/effect-mcp/blob/main/"
    const files = {
      "Source.ts": "",
      "pages/index.html": "<a href=\"docs/one.html#a\">one</a> <a href=\"#top\">top</a> <p id=\"top\">",
      "pages/docs/one.html":
        `<h1 id="a"><a href="../">up</a> <img src="two.svg"/> <a href="${site}docs/one.html">it</a> <a href="${repository}Source.ts#L1">`,
      "pages/docs/one.md": "",
      "pages/docs/two.svg": "<svg/>"
    }
    const write = (more) => {
      for (const [path, text] of Object.entries(more)) {
        mkdirSync(dirname(join(at, path)), { recursive: true })
        writeFileSync(join(at, path), text)
      }
    }
    write(files)
    const others = [{
      path: "README.md",
      text: `[one](${site}docs/one.html#a) [as text](${site}docs/one.md#a) [no](no.md)`
    }]
    assert.deepEqual(deadLinks(join(at, "pages"), at, others), [])
    write({
      "pages/docs/one.html":
        `<h1 id="b"><a href="../none.html">up</a> <img src="none.svg"/> <a href="${site}none.html">it</a> <a href="${repository}None.ts#L1">`
    })
    assert.deepEqual(deadLinks(join(at, "pages"), at, others), [
      "docs/one.html: dead link: ../none.html",
      "docs/one.html: dead link: none.svg",
      `docs/one.html: dead link: ${site}none.html`,
      `docs/one.html: dead link: ${repository}None.ts#L1`,
      "index.html: dead link: docs/one.html#a",
      `README.md: dead link: ${site}docs/one.html#a`,
      `README.md: dead link: ${site}docs/one.md#a`
    ])
  })

  it("are built by the workflow that publishes them, and by every check", () => {
    const workflow = readFileSync(join(root, ".github/workflows/pages.yml"), "utf8")
    assert.match(workflow, /run: npm run pages\n[\s\S]*path: build\/pages }\n/)
    assert.match(readFileSync(join(root, "scripts/check.mjs"), "utf8"), /^ {2}\["pages", script\("pages\.mjs"\)\]/m)
  })
})

describe("the pictures", () => {
  const one = (name, dependencies = {}) => ({ name, manifest: { dependencies } })
  const ours = (...names) => Object.fromEntries(names.map((name) => [`@effect-mcp/${name}`, "1"]))

  it("show what a package needs directly only", () => {
    const graph = packagesGraph([one("a"), one("b", ours("a")), one("c", { ...ours("a", "b"), effect: "3" })])
    assert.deepEqual([...graph.matchAll(/"(\w)" -> "(\w)"/g)].map(([, from, to]) => from + to), ["ba", "cb"])
  })

  it("are drawn, and shown on a page", async () => {
    const pages = filesUnder(root, "docs", (name) => name.endsWith(".md")).map((path) =>
      readFileSync(join(root, path), "utf8")
    )
    for (const [path, svg] of await picturesOf([one("a")])) {
      assert.match(svg, /^<svg[\s\S]*<\/svg>\n$/)
      assert.ok(
        pages.some((text) =>
          text.includes(`](${path.slice("docs/".length)})`) || text.includes(`](../${path.slice("docs/".length)})`)
        ),
        path
      )
    }
  })
})
