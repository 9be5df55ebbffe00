import type { Queryable } from 'millrace'

/** The rows of a statement, as it names their columns. */
export async function query<Row>(db: Queryable, text: string, values: unknown[] = []): Promise<Row[]> {
  const { rows } = await db.query(text, values)
  return rows as Row[]
}
