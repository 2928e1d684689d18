/**
 * What is used of `cross-spawn`: how it reads a command, without its own start of the program, which hides from the caller that a program ends.
 */
declare module "cross-spawn" {
  interface Parsed {
    readonly command: string
    readonly args: ReadonlyArray<string>
    readonly options: { readonly windowsVerbatimArguments?: boolean }
    /** The file of the program; nothing when there is none. */
    readonly file: string | null | undefined
  }
  const CrossSpawn: {
    readonly _parse: (
      command: string,
      args: ReadonlyArray<string>,
      options: { readonly env: Readonly<Record<string, string | undefined>>; readonly cwd: string | undefined }
    ) => Parsed
  }
  export default CrossSpawn
}
