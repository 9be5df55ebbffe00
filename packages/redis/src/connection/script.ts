// Lua travels with the code: it is sent by its hash, and in full to a server that does not know it.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

export interface Script {
  readonly text: string
  readonly sha: string
}

/** One of the files in the package's folder `scripts`. */
export function scriptNamed(name: string): Script {
  const text = readFileSync(new URL(`../../scripts/${name}.lua`, import.meta.url), 'utf8')
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}
