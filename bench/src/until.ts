import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'

/** Asks until the answer, a column called is_so, is yes. */
export async function until(pool: pg.Pool, question: string, values: readonly unknown[] = []): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ is_so: boolean }>(question, [...values])
    if (rows[0]?.is_so) return
    await sleep(2)
  }
}
