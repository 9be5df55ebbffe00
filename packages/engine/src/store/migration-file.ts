// What a migration file is: `NNNN_name.sql`, forward only, DDL only, never edited once released.
//
// Markers, each a line of its own in the file's first comment block:
//   -- breaking         an older worker must not run on the result
//   -- no-transaction   the statements run one by one, outside a transaction; `-- next statement` lines separate them
//
// Rules for whoever writes one:
// * In a transaction, touch at most one busy table. The lock timeout is per lock: a migration that holds the first
//   table while it waits for the second makes enqueuers wait for the sum.
// * Outside a transaction, write only `… concurrently`: no lock timeout guards these statements, and those need none.
// * Outside a transaction, every statement must be safe to run again, because a file that was cut off starts over.
//   An index is dropped if it exists and then created: `if not exists` would keep the invalid half of a failed build.
import { createHash } from 'node:crypto'
import { MigrationFailed } from '../errors.ts'

export interface MigrationFile {
  /** The file's name, without `.sql`. */
  file: string
  text: string
}

/** What is sent to the server at once: the whole file, or one statement of a `no-transaction` file. */
export interface MigrationPart {
  text: string
  firstLine: number
}

export interface Migration {
  version: number
  /** The file's name, without `.sql`: what the ledger, the errors and the command line call it. */
  name: string
  checksum: string
  isBreaking: boolean
  isTransactional: boolean
  /** Of a program that uses Millrace: its text names its schema itself, and runs as it is written. */
  isOfProgram: boolean
  parts: readonly MigrationPart[]
}

const HALF_BUILT = /\bindex\s+concurrently\s+if\s+not\s+exists\b/i

/** In order of version. */
export function parseMigrations(files: readonly MigrationFile[], isOfProgram = false): Migration[] {
  const migrations = files.map((file) => parseMigration(file, isOfProgram)).sort((a, b) => a.version - b.version)
  for (const [i, migration] of migrations.entries()) {
    const previous = migrations[i - 1]
    if (previous?.version === migration.version) {
      throw new MigrationFailed(
        migration.name,
        `has the same number as ${previous.name}. Give the newer one the next free number.`,
      )
    }
  }
  return migrations
}

function parseMigration({ file, text: raw }: MigrationFile, isOfProgram: boolean): Migration {
  const number = /^(\d{4})_\w+$/.exec(file)?.[1]
  if (number === undefined) {
    throw new MigrationFailed(file, 'is not named like 0001_words_of_what_it_does. Rename the file.')
  }
  const text = raw.replaceAll('\r\n', '\n')
  const markers = markersOf(text)
  const isTransactional = !markers.has('-- no-transaction')
  if (!isTransactional && HALF_BUILT.test(text)) {
    throw new MigrationFailed(
      file,
      'says `index concurrently if not exists`, which would keep the invalid index of a build that was cut off. Write `drop index concurrently if exists`, `-- next statement`, and a plain `create index concurrently`.',
    )
  }
  return {
    version: Number(number),
    name: file,
    checksum: createHash('sha256').update(text).digest('hex'),
    isBreaking: markers.has('-- breaking'),
    isTransactional,
    isOfProgram,
    parts: isTransactional ? [{ text, firstLine: 1 }] : statementsOf(text),
  }
}

function markersOf(text: string): Set<string> {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('--'))
  return new Set(lines.slice(0, end === -1 ? lines.length : end).map((line) => line.trimEnd()))
}

function statementsOf(text: string): MigrationPart[] {
  const parts: MigrationPart[] = []
  let firstLine = 1
  for (const statement of text.split(/^-- next statement$\n?/m)) {
    if (statement.trim() !== '') parts.push({ text: statement, firstLine })
    firstLine += statement.split('\n').length
  }
  return parts
}
