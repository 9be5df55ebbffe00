// A clock of the database that a scenario moves by hand. Schedules ask for `clock_timestamp()`; here that name finds a
// function in front of Postgres's own, in every connection opened after it was installed. Leases and jobs ask for `now()`,
// and go on living in real time.
import { channelOf, encodeMessage } from '../../../packages/engine/dist/store/notifications.js'
import type { World } from './world.ts'

export class DatabaseClock {
  readonly #world: World

  private constructor(world: World) {
    this.#world = world
  }

  static async install(world: World, start: Date): Promise<DatabaseClock> {
    await world.query(`
      create schema fault_clock;
      create table fault_clock.time (at timestamptz not null);
      create function fault_clock.clock_timestamp() returns timestamptz language sql volatile
        as 'select at from fault_clock.time';
      insert into fault_clock.time values ('${start.toISOString()}');
      do $$ begin
        execute format('alter database %I set search_path = fault_clock, pg_catalog, public', current_database());
      end $$`)
    return new DatabaseClock(world)
  }

  /** Workers sleep in real time, so they are woken, as when schedules are changed. */
  async moveTo(at: Date): Promise<void> {
    await this.#world.query(
      'with moved as (update fault_clock.time set at = $1 returning at) select pg_notify($2, $3) from moved',
      [at, channelOf('millrace'), encodeMessage({ kind: 'schedules' })],
    )
  }
}
