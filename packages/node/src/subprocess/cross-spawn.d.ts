/**
 * The types of the function of `cross-spawn` that parses a command. The function of `cross-spawn` that starts a program is not used,
 * because it hides the exit of the program from the caller.
 */
declare module "cross-spawn" {
  interface Parsed {
    readonly command: string
    readonly args: ReadonlyArray<string>
    readonly options: { readonly windowsVerbatimArguments?: boolean }
    /** The file of the program; `null` or `undefined` when the file does not exist. */
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
