// docs/changelog.md: what changes since the last release, from the files in .changeset; the releases are in the CHANGELOG of each package.

/** What a changeset says: its packages without their scope, whether it adds something, and its text. */
const read = (text) => {
  const [, head = "", body = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(text) ?? []
  const packages = [...head.matchAll(/"@effect-mcp\/([\w-]+)": (\w+)/g)]
  return {
    packages: packages.map(([, name]) => name),
    isNew: packages.some(([, , kind]) => kind !== "patch"),
    text: body.trim().replace(/\s*\n\s*/g, " ")
  }
}

/** `changesets` has the name and the text of each file, `released` the packages that have a CHANGELOG. */
export const changelogOf = (changesets, released) => {
  const entries = changesets.map(({ text }) => read(text)).filter(({ packages }) => packages.length > 0)
  const list = (title, isNew) => {
    const lines = entries.filter((entry) => entry.isNew === isNew)
      .map(({ packages, text }) => `- **${packages.join(", ")}**: ${text}`)
    return lines.length === 0 ? [] : [`### ${title}`, lines.join("\n")]
  }
  return [
    "# Changelog",
    "This page is made from the files in [`.changeset`](../.changeset). All packages have the same version, see [versioning](versioning.md).",
    "## Not released yet",
    ...list("New and changed", true),
    ...list("Mended", false),
    ...(released.length === 0 ? [] : [
      "## Releases",
      released.map((name) => `- [${name}](../packages/${name}/CHANGELOG.md)`).join("\n")
    ])
  ].join("\n\n") + "\n"
}
