import type { Scenario } from '../scenario.ts'
import f01 from './f01-kill-storm.ts'
import f01b from './f01b-rescued-under-backlog.ts'
import f01c from './f01c-deadline-before-lease.ts'
import f02 from './f02-freeze.ts'
import f03 from './f03-blocked-loop.ts'
import f03b from './f03b-stuck-loop.ts'
import f04 from './f04-ignored-abort.ts'
import f05 from './f05-settle-reply-cut.ts'
import f05b from './f05b-claim-reply-cut.ts'
import f05c from './f05c-killed-between-halves.ts'
import f06 from './f06-enqueue-reply-cut.ts'
import f07 from './f07-database-outage.ts'
import f08 from './f08-wake-ups.ts'
import f09 from './f09-noisy-neighbour.ts'
import f10 from './f10-open-transaction.ts'
import f12 from './f12-forced-bad-plan.ts'
import f13 from './f13-claim-race.ts'
import f14 from './f14-interleavings.ts'
import f15 from './f15-limits-with-zombies.ts'
import f15b from './f15b-shared-limit.ts'
import f16 from './f16-frozen-tickers.ts'
import f17 from './f17-difficult-times.ts'
import f18 from './f18-poison-pill.ts'
import f18b from './f18b-isolated-pill.ts'
import f19 from './f19-payload-corpus.ts'
import f20 from './f20-rolling-restart.ts'
import f20b from './f20b-handed-over.ts'
import f20c from './f20c-supervised.ts'
import f21 from './f21-dedupe-race.ts'
import f21b from './f21b-dedupe-window.ts'
import f23 from './f23-workflow-races.ts'
import f26 from './f26-redis-away.ts'

export const scenarios: readonly Scenario[] = [
  f01,
  f01b,
  f01c,
  f02,
  f03,
  f03b,
  f04,
  f05,
  f05b,
  f05c,
  f06,
  f07,
  f08,
  f09,
  f10,
  f12,
  f13,
  f14,
  f15,
  f15b,
  f16,
  f17,
  f18,
  f18b,
  f19,
  f20,
  f20b,
  f20c,
  f21,
  f21b,
  f23,
  f26,
]
