// A CSV of contacts as large as one likes, with names beyond Latin-1, quoted line breaks and now and then a bad row.
import { Readable } from 'node:stream'

const FIRST = ['Ann', 'Łucja', 'Ελένη', 'Ольга', 'Zoë', 'Jürgen', 'Søren', 'Noor']
const LAST = ['Smith', 'Żak', 'Παπά', 'Иванова', 'García', 'Müller', 'Åberg', 'de Vries']
const CITIES = ['Oulu', 'Łódź', 'Αθήνα', 'Київ', 'Málaga', 'Köln', 'Århus', 'Utrecht']
const CHUNK_ROWS = 1_000

export interface CsvOptions {
  readonly rows: number
  /** Every so many rows have no e-mail address where one should be; 0: none. Default 997. */
  readonly badEvery?: number
}

export function contactsCsv({ rows, badEvery = 997 }: CsvOptions): Readable {
  return Readable.from(chunks(rows, badEvery), { objectMode: false })
}

function* chunks(rows: number, badEvery: number): Generator<Buffer> {
  yield Buffer.from('external_id,name,email,phone,city,note\r\n')
  for (let from = 0; from < rows; from += CHUNK_ROWS) {
    const lines = Array.from({ length: Math.min(CHUNK_ROWS, rows - from) }, (_, i) => line(from + i, badEvery))
    yield Buffer.from(lines.join(''))
  }
}

function line(n: number, badEvery: number): string {
  const name = `${FIRST[n % FIRST.length]} ${LAST[Math.floor(n / 8) % LAST.length]}`
  const email = badEvery > 0 && n % badEvery === badEvery - 1 ? 'no address' : `person${n}@example.com`
  const note =
    n % 10 === 0
      ? `"Called twice.\nAsks for ""more"", soon."`
      : 'Found us at a fair; wants the catalogue by post, and a call in spring.'
  return `C-${n},${name},${email},+1555${String(n % 10_000_000).padStart(7, '0')},${CITIES[n % CITIES.length]},${n % 10 === 0 ? note : `"${note}"`}\r\n`
}
