// Reads a large result in pieces: memory does not grow with it, and it is one statement, so one snapshot.
import type { Queryable } from 'millrace'
import { query } from '../query.ts'

const ROWS = 1_000

/** `name` of the cursor: each once in a transaction. The statement takes no parameters: the context says whose rows it sees. */
export async function* cursorRows<Row>(tx: Queryable, name: string, statement: string): AsyncGenerator<Row> {
  await tx.query(`declare ${name} no scroll cursor for ${statement}`)
  for (;;) {
    const rows = await query<Row>(tx, `fetch ${ROWS} from ${name}`)
    yield* rows
    if (rows.length < ROWS) break
  }
  await tx.query(`close ${name}`)
}
