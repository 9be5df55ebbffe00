// The newest fence of each lock.
import type { Queryable } from 'millrace'
import type { Postgres } from './pool.ts'

/** A number above all that were given for this lock. It waits for guarded transactions of the holder before. */
export async function nextFence(db: Postgres, name: string): Promise<bigint> {
  const [row] = await db.rows<{ fence: string }>(
    `insert into millrace_redis.lock_fence (name, fence) values ($1, 1)
     on conflict (name) do update set fence = lock_fence.fence + 1
     returning fence::text`,
    [name],
  )
  return BigInt(row?.fence ?? 0)
}

/** The newest fence, which cannot change until this transaction ends. */
export async function heldFence(tx: Queryable, name: string): Promise<bigint> {
  const { rows } = await tx.query('select fence::text from millrace_redis.lock_fence where name = $1 for share', [name])
  return BigInt((rows[0] as { fence: string } | undefined)?.fence ?? 0)
}
