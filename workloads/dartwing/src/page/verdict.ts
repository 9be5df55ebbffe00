// The sentence on top of the page: who waits most, and whether that is anybody else's trouble.
import type { Neighbour } from './neighbours.ts'

/** Beyond this many waiting jobs an organization is named. */
const MANY = 20

export function verdictOf(neighbours: readonly Neighbour[]): string {
  const most = neighbours.reduce<Neighbour | undefined>((a, b) => (b.waiting > (a?.waiting ?? 0) ? b : a), undefined)
  const rest = neighbours.filter((each) => each !== most)
  if (most === undefined || most.waiting === 0) return 'No job waits.'
  if (most.waiting < MANY)
    return `${neighbours.reduce((sum, { waiting }) => sum + waiting, 0)} jobs wait, and no organization has many.`
  const [queue] = [...most.queues].sort((a, b) => b.waiting - a.waiting)
  const waits = rest.flatMap(({ waitP95Ms }) => (waitP95Ms === null ? [] : [waitP95Ms]))
  const has = `${most.organization} has ${queue?.waiting} ${queue?.queue} jobs waiting`
  if (rest.length === 0) return `${has}.`
  if (waits.length === 0) return `${has}; no other organization has run a job in the last minute.`
  return `${has}; 95 of 100 jobs of every other organization wait no longer than ${seconds(Math.max(...waits))}.`
}

export const seconds = (ms: number): string =>
  ms < 9_950 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 1_000)} s`
