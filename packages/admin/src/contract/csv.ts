// Rows as CSV, for spreadsheets: as RFC 4180 says, but with line feeds alone. Cells hold texts that anybody may have written, and a spreadsheet runs some of them.

/** A spreadsheet takes a text that begins like this for a formula, also in the full-width forms. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/
const LINE_END = /\r\n?/g
/** All but tab and line feed: a terminal would obey them, and no spreadsheet can show them. */
const CONTROLS = /(?![\t\n])[\p{Cc}\u2028\u2029\p{Bidi_Control}]/gu

/** A line of it, with its end. */
export const csvLine = (cells: readonly unknown[]): string => `${cells.map(cell).join(',')}\n`

/** The values of these columns. */
export const csvRow = (row: object, columns: readonly string[]): string =>
  csvLine(columns.map((column) => (row as Readonly<Record<string, unknown>>)[column]))

function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (value instanceof Date) return value.toISOString()
  return quoted(typeof value === 'string' ? value : JSON.stringify(value))
}

function quoted(value: string): string {
  const clean = value.replace(LINE_END, '\n').replace(CONTROLS, ' ')
  const text = FORMULA.test(value) || FORMULA.test(clean.trimStart()) ? `'${clean}` : clean
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const JOB = [
  ...[
    'id',
    'status',
    'type',
    'queue',
    'tenant',
    'priority',
    'attempt',
    'maxAttempts',
    'createdAt',
    'runAt',
    'startedAt',
  ],
  ...['finishedAt', 'lastErrorAt', 'lastError', 'reason', 'correlationId', 'workflowId', 'parentJobId', 'dedupKey'],
  ...['createdBy', 'payload'],
]
const LETTER = [
  ...['id', 'jobId', 'type', 'queue', 'tenant', 'status', 'reason', 'attempts', 'diedAt', 'fingerprint', 'errorClass'],
  ...['errorMessage', 'correlationId', 'workflowId', 'acknowledgedBy', 'acknowledgedAt', 'redrives', 'redrivenJobId'],
  ...['notes'],
]
const AUDIT = ['id', 'at', 'by', 'action', 'target', 'tenant', 'details', 'source', 'requestId']

/** What is exported of each kind of row, in this order. */
export const csvColumns = { jobs: JOB, deadLetters: LETTER, audit: AUDIT } as const

/** Rows of an export: unless told otherwise, and at most. */
export const CSV_ROWS = { usual: 10_000, most: 100_000 }
