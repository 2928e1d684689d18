// The texts of errors are found in the sources, however they are put together; the changelog, llms.txt and the file of all guides hold what
// they are made of; and the pictures are drawn.
import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { changelogOf } from "./pages/changelog.mjs"
import { allOf, guidesOf, llmsOf } from "./pages/llms.mjs"
import { messagesOf, sentencesOf } from "./pages/messages.mjs"
import { packagesGraph, picturesOf, walkGraph } from "./pages/pictures.mjs"

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
  const text = (kind, body) => ({ text: `---\n"@effect-mcp/server": ${kind}\n---\n\n${body}\n` })

  it("lists what is new and what is mended, with the packages", () => {
    const page = changelogOf([text("minor", "Tasks\nlast."), text("patch", "A leak is mended."), {
      text: "# Changesets\n"
    }], [])
    assert.match(
      page,
      /### New and changed\n\n- \*\*server\*\*: Tasks last\.\n\n### Mended\n\n- \*\*server\*\*: A leak/
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
      "# First\n\nA server is a layer.\n\n```sh\n# not a heading\n```\n\n[next](02-second.md#two) [api](../api/x.md)\n",
    "docs/faq.md": "# FAQ\n\nQuestions.\n"
  }
  const entrance =
    "# Docs\n\n[first](server/01-first.md), [again](server/01-first.md#a), [faq](faq.md), [api](api/x.md), [all](all.md)\n"
  const guides = guidesOf(entrance, (path) => pages[path])

  it("has the guides in the order of the entrance, each once", () => {
    assert.deepEqual(guides.map(({ path }) => path), Object.keys(pages))
  })

  it("has the programs of the README, the recipes, and where the guides are", () => {
    const text = llmsOf(
      "# Name\n\nWhat it is.\n\n## A server\n\ncode\n\n## Licence\n\nMIT\n",
      "# Recipes\n\n## One\n",
      guides
    )
    assert.match(text, /^# Name\n\nWhat it is\.\n\nImport each module/)
    assert.match(text, /## A server\n\ncode\n\n## Recipes\n\n### One/)
    assert.match(text, /- \[First\]\(docs\/server\/01-first\.md\): A server is a layer\./)
    assert.doesNotMatch(text, /MIT/)
  })

  it("keeps code, and leads from the folder of the page", () => {
    const all = allOf(guides)
    assert.match(all, /^## First$/m)
    assert.match(all, /^# not a heading$/m)
    assert.match(all, /\[next\]\(server\/02-second\.md#two\) \[api\]\(api\/x\.md\)/)
  })
})

describe("the pictures", () => {
  const one = (name, dependencies = {}) => ({ name, manifest: { dependencies } })
  const ours = (...names) => Object.fromEntries(names.map((name) => [`@effect-mcp/${name}`, "1"]))

  it("show what a package needs directly only", () => {
    const graph = packagesGraph([one("a"), one("b", ours("a")), one("c", { ...ours("a", "b"), effect: "3" })])
    assert.deepEqual([...graph.matchAll(/"(\w)" -> "(\w)"/g)].map(([, from, to]) => from + to), ["ba", "cb"])
  })

  it("show the steps of a walk, and fail without the table", async () => {
    const table =
      "text `<!-- walk: one -->`\n<!-- walk: one -->\n\n| step | module | what |\n|---|---|---|\n| 1 | `a/B` | reads; more |\n| 2 | **your handler** | runs |\n"
    assert.match(walkGraph(table, "one"), /1\. a\/B\\lreads\\l[\s\S]*s1 -> s2/)
    assert.throws(() => walkGraph(table, "two"), /has no table "two"/)
    const pictures = await picturesOf([one("a")], table.replaceAll("walk: one", "walk: server, stdio"))
    for (const svg of pictures.values()) assert.match(svg, /^<svg[\s\S]*<\/svg>\n$/)
  })
})
