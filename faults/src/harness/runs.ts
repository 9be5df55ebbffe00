// Which runs were going on when, by the tables: a run is valid from its claim until its job is settled or taken away.
import { setTimeout as sleep } from 'node:timers/promises'
import type { World } from './world.ts'

const LOOK_EVERY_MS = 25

/** Tables for what handlers say of themselves, and for what became of their jobs, written by whoever changes these. */
export async function watchRuns(world: World): Promise<void> {
  await world.query(`
    create table fault.run (
      job_id bigint not null, run_id uuid not null, who text not null,
      began_at timestamptz not null default clock_timestamp(), ended_at timestamptz
    );
    create table fault.claim (
      job_id bigint not null, run_id uuid not null, began_at timestamptz not null, over_at timestamptz
    );
    create function fault.note_claim() returns trigger language plpgsql as $$
    begin
      if old.status = 'processing' and (tg_op = 'DELETE' or new.status <> 'processing') then
        update fault.claim set over_at = clock_timestamp() where job_id = old.id and run_id = old.run_id;
      elsif tg_op = 'UPDATE' and old.status <> 'processing' and new.status = 'processing' then
        insert into fault.claim (job_id, run_id, began_at) values (new.id, new.run_id, clock_timestamp());
      end if;
      return null;
    end $$;
    create trigger note_claim after update or delete on millrace.job for each row execute function fault.note_claim()`)
}

const mostOf = (spans: string) => `
  select coalesce(max(runs), 0)::int as most
  from (
    select sum(step) over (order by at, step) as runs
    from (
      select began_at as at, 1 as step from (${spans}) as span
      union all
      select until, -1 from (${spans}) as span
    ) as steps
  ) as course`

/** Of those that held a place. */
const CLAIMS = `select began_at, coalesce(over_at, 'infinity') as until from fault.claim`
/** Of handlers, as long as their run was theirs. */
const VALID = `
  select run.began_at, least(coalesce(run.ended_at, 'infinity'), coalesce(claim.over_at, 'infinity')) as until
  from fault.run join fault.claim using (job_id, run_id) where run.began_at < coalesce(claim.over_at, 'infinity')`
/** Of handlers, those included that went on after their run was taken away; of the killed nobody knows. */
const HANDLERS = 'select began_at, ended_at as until from fault.run where ended_at is not null'

export async function mostAtOnce(world: World): Promise<{ claims: number; valid: number; handlers: number }> {
  const most = async (spans: string) => (await world.query<{ most: number }>(mostOf(spans)))[0]?.most ?? 0
  return { claims: await most(CLAIMS), valid: await most(VALID), handlers: await most(HANDLERS) }
}

/** The longest time for which a place was free while somebody waited for it; ends when it is stopped. */
export function watchVain(world: World, places: number): AsyncDisposable & { stop(): Promise<number> } {
  let isWatching = true
  let longestMs = 0
  let since: number | undefined
  const loop = (async () => {
    while (isWatching) {
      const [row] = await world.query<{ running: number; ready: number }>(
        `select count(*) filter (where status = 'processing')::int as running,
           count(*) filter (where status = 'pending' and run_at <= now())::int as ready from millrace.job`,
      )
      const isVain = row !== undefined && row.ready > 0 && row.running < places
      const now = performance.now()
      since = isVain ? (since ?? now) : undefined
      longestMs = Math.max(longestMs, now - (since ?? now))
      await sleep(LOOK_EVERY_MS)
    }
  })()
  const stop = async () => {
    isWatching = false
    await loop
    return longestMs
  }
  return { stop, [Symbol.asyncDispose]: async () => void (await stop()) }
}
