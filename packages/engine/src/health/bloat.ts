// When a table or an index is in need of repair. Pure: sizes and times in, a judgement out.
import type { IndexBloat, SnapshotHolder, TableBloat } from '../store/upkeep.ts'

/** Autovacuum comes long before that many are dead, if it comes. */
const DEAD_ROWS = 10_000
const DEAD_SHARE = 0.1
/** Autovacuum looks once a minute by default: whoever has not come for this long is not about to. */
export const NEGLECTED_MS = 5 * 60_000
/** Below this nobody gains anything from a smaller index. */
export const INDEX_BYTES = 8 * 1024 * 1024
const OVERSIZE = 4
const QUIET_WRITES_PER_S = 100

/** So many dead rows that looking for live ones takes longer. */
export const isBloated = ({ deadRows, liveRows }: TableBloat): boolean => deadRows >= DEAD_ROWS + DEAD_SHARE * liveRows

/** Nobody has cleaned the table for longer than autovacuum should take. */
export const isNeglected = ({ vacuumedMsAgo }: TableBloat): boolean =>
  vacuumedMsAgo === null || vacuumedMsAgo >= NEGLECTED_MS

/** A snapshot of this age is not just one of the flow. An age that nobody knows is a great one. */
export const isOld = ({ heldMs }: SnapshotHolder, oldMs: number): boolean => heldMs === null || heldMs >= oldMs

/** The table was cleaned since that snapshot was taken, which is long ago: another time would remove no more. */
export const isInVain = ({ vacuumedMsAgo }: TableBloat, holder: SnapshotHolder, oldMs: number): boolean =>
  isOld(holder, oldMs) && vacuumedMsAgo !== null && (holder.heldMs === null || vacuumedMsAgo < holder.heldMs)

/** The index that is worth a rebuild most, if any is. */
export function worstIndex(indexes: readonly IndexBloat[]): IndexBloat | undefined {
  return indexes
    .filter(
      ({ bytes, neededBytes, isLeftover }) => !isLeftover && bytes >= INDEX_BYTES && bytes >= OVERSIZE * neededBytes,
    )
    .sort((a, b) => b.bytes - b.neededBytes - (a.bytes - a.neededBytes))[0]
}

export interface Look {
  writes: number
  atMs: number
}

/** Little was written since the last look. Unknown, at the first one, is not quiet; nor is a count that began anew. */
export function isQuiet(before: Look | undefined, now: Look): boolean {
  if (before === undefined || now.writes < before.writes) return false
  const seconds = Math.max(1, (now.atMs - before.atMs) / 1_000)
  return (now.writes - before.writes) / seconds < QUIET_WRITES_PER_S
}
