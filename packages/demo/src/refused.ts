/** The database holds jobs already, and demo data would mix with ${jobs === 1 ? 'it' : 'them'}. Nothing was written. */
export class DemoRefused extends Error {
  override readonly name = 'DemoRefused'

  constructor(jobs: number) {
    const count =
      jobs >= 1_000 ? 'more than 1,000 jobs' : jobs === 1 ? 'a job' : jobs > 0 ? `${jobs} jobs` : 'what jobs have left'
    super(
      `The database holds ${count} already, and demo data would mix with ${jobs === 1 ? 'it' : 'them'}: nothing was written. Name an empty database in DATABASE_URL, or run \`millrace demo\` in an empty folder, where it starts a database of its own.`,
    )
  }
}
