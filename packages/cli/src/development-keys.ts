// The encryption keys of development: made once beside the embedded cluster, so that sensitive job types work without
// any set-up, and what is stored under them opens as long as the data exists.
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type EncryptionOptions, encryptionFrom } from 'millrace'
import type { Database } from './database.ts'

export interface DevelopmentKeys {
  /** With the variables that `encryptionFrom` reads: `node --env-file` loads it. */
  readonly file: string
  readonly encryption: EncryptionOptions
}

const NAME = 'encryption-keys.env'

/** The keys of this database, if there are any. Only an embedded one has some. */
export async function developmentKeys({ directory }: Database): Promise<DevelopmentKeys | undefined> {
  if (directory === undefined) return undefined
  const file = join(directory, NAME)
  const text = await readFile(file, 'utf8').catch(absent)
  const encryption = text && encryptionFrom(variablesIn(text))
  return encryption ? { file, encryption } : undefined
}

/** … and makes them if there are none. */
export async function makeDevelopmentKeys(database: Database): Promise<DevelopmentKeys | undefined> {
  if (database.directory === undefined) return undefined
  const key = () => randomBytes(32).toString('base64')
  const text = `MILLRACE_ENCRYPTION_KEYS=development:${key()}\nMILLRACE_LOOKUP_KEY=${key()}\n`
  // Of two processes that start at once, the second takes the keys of the first.
  await writeFile(join(database.directory, NAME), text, { mode: 0o600, flag: 'wx' }).catch(present)
  return developmentKeys(database)
}

const variablesIn = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]))

const onlyIf = (expected: string) => (error: NodeJS.ErrnoException) => {
  if (error.code !== expected) throw error
}
const absent = onlyIf('ENOENT')
const present = onlyIf('EEXIST')
