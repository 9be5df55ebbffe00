// The database server: clocks, connections, autovacuum, notifications, dead rows and what keeps them.
import { snapshotHolder, tableBloat } from '../store/upkeep.ts'
import { isBloated, isNeglected, isOld } from './bloat.ts'
import { type Check, degraded } from './check.ts'
import { percent, span } from './words.ts'

const MAX_SKEW_MS = 5_000
const MAX_CONNECTIONS = 0.9
/** Above it Millrace sends no notifications, so that no commit fails because of a full queue. */
const MAX_NOTIFY_QUEUE = 0.5

export const clocks: Check = {
  name: 'clock',
  area: 'database',
  look({ server: { skewMs } }) {
    const says = `The clock of this process is ${span(Math.abs(skewMs))} ${skewMs > 0 ? 'ahead of' : 'behind'} that of the database`
    return {
      fine: 'The clocks of this process and of the database agree.',
      complaints:
        Math.abs(skewMs) <= MAX_SKEW_MS
          ? []
          : [
              degraded(
                `${says}, which decides when jobs are due.`,
                'Synchronise the clocks (NTP) of this machine and of the database server. Until then, times that programs compute, such as `runAt`, are off by that much.',
              ),
            ],
    }
  },
}

export const connections: Check = {
  name: 'connections',
  area: 'database',
  look({ server: { connections: used, maxConnections } }) {
    return {
      fine: `${used} of ${maxConnections} connections of the server are in use.`,
      complaints:
        used < MAX_CONNECTIONS * maxConnections
          ? []
          : [
              degraded(
                `${used} of ${maxConnections} connections of the server are in use: soon no process can connect.`,
                'Lower `maxConnections` of clients, run fewer processes, put a pooler in between, or raise max_connections.',
              ),
            ],
    }
  },
}

export const autovacuum: Check = {
  name: 'autovacuum',
  area: 'database',
  look({ server: { isAutovacuumOn } }) {
    return {
      fine: 'Autovacuum is on.',
      complaints: isAutovacuumOn
        ? []
        : [
            degraded(
              'Autovacuum is off on this server, so dead rows stay until a worker cleans them.',
              'Switch it on: `alter system set autovacuum = on; select pg_reload_conf()`.',
            ),
          ],
    }
  },
}

export const notifyQueue: Check = {
  name: 'notify_queue',
  area: 'database',
  look({ server: { notifyQueueUsage } }) {
    return {
      fine: `The queue of notifications is ${percent(notifyQueueUsage)} full.`,
      complaints:
        notifyQueueUsage < MAX_NOTIFY_QUEUE
          ? []
          : [
              degraded(
                `The server's queue of notifications is ${percent(notifyQueueUsage)} full. Millrace sends none, and workers poll.`,
                'A session listens inside a transaction that does not end. Find it in pg_stat_activity (`idle in transaction`) and end it.',
              ),
            ],
    }
  },
}

export const bloat: Check = {
  name: 'bloat',
  area: 'database',
  async look({ db }) {
    const tables = (await tableBloat(db)).filter(isBloated)
    return {
      fine: 'No table holds many dead rows.',
      complaints: tables
        .filter(isNeglected)
        .map(({ name, deadRows, liveRows, mayRepair }) =>
          degraded(
            `Table "${name}" holds ${Math.round(deadRows)} dead rows beside ${Math.round(liveRows)} live ones, and was not vacuumed in the last five minutes.`,
            mayRepair
              ? 'A running worker vacuums it within minutes. If it comes back, see why autovacuum does not keep up.'
              : 'This role may not vacuum it: grant it the right, or see to autovacuum.',
          ),
        ),
    }
  },
}

export const snapshots: Check = {
  name: 'old_snapshot',
  area: 'database',
  async look({ db, limits: { oldSnapshotMs } }) {
    const holder = await snapshotHolder(db)
    const complaints =
      holder === undefined || !isOld(holder, oldSnapshotMs)
        ? []
        : [
            degraded(
              `A ${holder.kind} (${[holder.pid === null ? [] : `pid ${holder.pid}`, holder.name ?? [], holder.state].flat().join(', ')}) holds a snapshot${holder.heldMs === null ? '' : ` for ${span(holder.heldMs)}`}: no vacuum can remove newer dead rows.`,
              'End it: commit or terminate the session, finish the prepared transaction, or drop the replication slot.',
            ),
          ]
    return { fine: 'No old transaction keeps dead rows from being removed.', complaints }
  },
}
