// Which columns a CSV of contacts has, and what is wrong with a row.
import { z } from 'zod'

const COLUMNS = ['external_id', 'name', 'email', 'phone', 'city', 'note'] as const
const REQUIRED = ['external_id', 'name'] as const

export interface Contact {
  readonly externalId: string
  readonly fields: Readonly<Record<string, string>>
}

export type RowRefusal = { readonly column: string | null; readonly problem: string }

/** The file as a whole cannot be imported: one sentence for the person who asked. */
export class FileRefused extends Error {
  override readonly name = 'FileRefused'
}

/** Throws FileRefused. */
export function checkHeader(header: readonly string[]): void {
  const missing = REQUIRED.filter((column) => !header.includes(column))
  if (missing.length > 0)
    throw new FileRefused(
      `Line 1 names no column ${missing.map((column) => `"${column}"`).join(' and no ')}. Expected a header with ${COLUMNS.join(', ')}; the first two must be there.`,
    )
  const twice = header.find((column, i) => header.indexOf(column) !== i)
  if (twice !== undefined) throw new FileRefused(`Line 1 names the column "${twice}" twice. Name each column once.`)
}

const MOST_CHARACTERS = 10_000
const email = z.email()

export function readRow(header: readonly string[], cells: readonly string[]): Contact | RowRefusal {
  if (cells.length !== header.length)
    return {
      column: null,
      problem: `The row has ${cells.length} cells, and the header ${header.length}. Quote cells that contain the delimiter.`,
    }
  const row = Object.fromEntries(header.map((column, i) => [column, (cells[i] ?? '').trim()]))
  for (const column of REQUIRED) if (!row[column]) return { column, problem: 'The cell is empty. Fill it.' }
  for (const column of header) {
    const cell = row[column] ?? ''
    if (cell.length > MOST_CHARACTERS)
      return { column, problem: `The cell has ${cell.length} characters. Shorten it to ${MOST_CHARACTERS}.` }
    if (cell.includes('\u0000')) return { column, problem: 'The cell has a NUL character. Take it out.' }
  }
  if (row.email && !email.safeParse(row.email).success)
    return { column: 'email', problem: 'This is not an e-mail address. Correct it, or leave the cell empty.' }
  const fields = COLUMNS.filter((column) => column !== 'external_id' && row[column])
  return {
    externalId: row.external_id ?? '',
    fields: Object.fromEntries(fields.map((column) => [column, row[column] ?? ''])),
  }
}
