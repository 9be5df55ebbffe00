import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** Of a library as the given module finds it. Not all of them export their package.json, so the folders are searched. */
export function versionOf(library: string, from: string = import.meta.url): string {
  for (const folder of createRequire(from).resolve.paths(library) ?? []) {
    try {
      return JSON.parse(readFileSync(join(folder, library, 'package.json'), 'utf8')).version
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  throw new Error(`${library} is not installed`)
}
