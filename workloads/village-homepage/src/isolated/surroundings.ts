// What isolated handlers know of the village. Their processes get no services, so `start` leaves it in a variable of the
// environment before the worker forks them.

export interface Surroundings {
  readonly databaseUrl: string
  /** host:port pairs that pages may ask for although they are not public. */
  readonly allow: readonly string[]
  readonly userAgent: string
  /** Undefined: the one that npm brought, or one that is installed. */
  readonly chromium?: string | undefined
  /** Until a page has loaded. */
  readonly loadMs: number
  /** Of a browser with its pages and the process that drives it. */
  readonly maxMemoryMb: number
}

const NAME = 'VILLAGE_SURROUNDINGS'

/** Answers with a function that takes it away again, if it is still the same. */
export function leaveSurroundings(surroundings: Surroundings): () => void {
  const text = JSON.stringify(surroundings)
  process.env[NAME] = text
  return () => {
    if (process.env[NAME] === text) delete process.env[NAME]
  }
}

export function surroundings(): Surroundings {
  const text = process.env[NAME]
  if (text === undefined)
    throw new Error(`${NAME} is not set. Isolated handlers of the village run below \`millrace work\` or \`dev\` only.`)
  return JSON.parse(text) as Surroundings
}
