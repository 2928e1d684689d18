/** How long a run takes, compared with a known work: what is measured is the processor, not the clock. */

/**
 * How many times as long as the compared work a schema may take: three times as long as the slowest schema of a hostile server takes that
 * the tests have.
 */
export const LIMIT = 12

/** How many small objects the compared work writes as JSON and reads again. Its cost says how fast the machine is at this moment. */
export const OBJECTS = 20_000

/** The processor time of a run, in milliseconds. */
const spentOn = (run: () => unknown): number => {
  const start = process.cpuUsage()
  run()
  const { system, user } = process.cpuUsage(start)
  return (system + user) / 1000
}

const compared = () =>
  Array.from({ length: OBJECTS }, (_, i) => JSON.parse(JSON.stringify({ i, text: `text ${i}`, list: [i] })))

/** How many times as long as the compared work a run takes: in the first of five runs that is below the limit, or else in the last run. */
export const times = (run: () => unknown, runs = 5): number => {
  const ratio = spentOn(run) / spentOn(compared)
  return ratio < LIMIT || runs === 1 ? ratio : times(run, runs - 1)
}
