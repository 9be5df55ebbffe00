// Whoever may want something of one job at the same time, as steps that a scheduler can place one by one.

import { jobCancelRunning, jobCancelWaiting, jobRunNow } from '../../../packages/engine/dist/store/job-changes.js'
import { jobClaim } from '../../../packages/engine/dist/store/job-claims.js'
import { jobOrphans, jobOverdue } from '../../../packages/engine/dist/store/running-jobs.js'
import { type Settlement, settle } from '../../../packages/engine/dist/store/settlements.js'
import { workerExpire } from '../../../packages/engine/dist/store/workers.js'
import { QUEUE } from '../harness/live-jobs.ts'
import type { StoreSession } from '../harness/store-session.ts'
import type { Observed, Operation, RunName } from './model.ts'

/** The job under test and the names of what happens to it. */
export interface Subject {
  id: string
  runs: Record<RunName, string>
  /** Holds a lease. */
  livingWorker: string
}

export interface Actor {
  readonly name: string
  readonly session: StoreSession
  readonly steps: (() => Promise<void>)[]
  readonly observed: Observed[]
  /** Its transaction did not commit: whatever it saw has not happened. */
  isUndone: boolean
}

const failure = { class: 'Error', message: 'fault', stack: null, fingerprint: 'f', logs: null }

function settlementOf(kind: 'finish' | 'fail', subject: Subject, run: RunName): Settlement {
  const key = { id: subject.id, runId: subject.runs[run] }
  return kind === 'finish'
    ? { ...key, kind: 'finish', status: 'completed', result: null, reason: null, retention: 'standard' }
    : { ...key, kind: 'requeue', delayMs: 0, refund: false, crash: 'clear', failure }
}

class Play implements Actor {
  readonly name: string
  readonly session: StoreSession
  readonly subject: Subject
  readonly steps: (() => Promise<void>)[] = []
  readonly observed: Observed[] = []
  isUndone = false

  constructor(name: string, session: StoreSession, subject: Subject) {
    this.name = name
    this.session = session
    this.subject = subject
  }

  saw(operation: Operation, didWin: boolean): void {
    this.observed.push({ operation, didWin })
  }

  sql(text: 'begin' | 'commit' | 'rollback'): () => Promise<void> {
    return async () => void (await this.session.client.query(text))
  }

  settling(kind: 'finish' | 'fail', run: RunName): () => Promise<void> {
    return async () => {
      const { won } = await settle(this.session, null, [settlementOf(kind, this.subject, run)])
      this.saw({ kind, run }, won.size > 0)
    }
  }
}

type Part = (play: Play) => void

/** A worker that thinks the first run is still its own. */
const completes: Part = (play) => void play.steps.push(play.settling('finish', 'first'))
const fails: Part = (play) => void play.steps.push(play.settling('fail', 'first'))
const completesInTransaction: Part = (play) =>
  void play.steps.push(play.sql('begin'), play.settling('finish', 'first'), play.sql('commit'))
const completesAndRollsBack: Part = (play) => {
  play.isUndone = true
  play.steps.push(play.sql('begin'), play.settling('finish', 'first'), play.sql('rollback'))
}

/** The first worker's lease has run out: whoever looks ends it. */
const expiresLeases: Part = (play) => {
  play.steps.push(async () => {
    play.saw({ kind: 'expire' }, (await workerExpire(play.session, null)).length > 0)
  })
}

/** As the rescuer does it: end the leases that ran out, then find and settle in one transaction. */
const rescues: Part = (play) => {
  expiresLeases(play)
  let found: Settlement[] = []
  const find = async () => {
    found = (await jobOrphans(play.session, 10)).map(({ id, runId, cancelRequested }) =>
      cancelRequested
        ? { kind: 'finish', id, runId, status: 'cancelled', result: null, reason: 'fault', retention: 'standard' }
        : { kind: 'requeue', id, runId, delayMs: 0, refund: true, crash: 'count', failure: null },
    )
  }
  const write = async () => {
    const { won } = await settle(play.session, null, found)
    play.saw({ kind: 'rescue' }, won.size > 0)
  }
  play.steps.push(play.sql('begin'), find, write, play.sql('commit'))
}

const buriesTheOverdue: Part = (play) => {
  let found: Settlement[] = []
  const find = async () => {
    const runs = await jobOverdue(play.session, null, 10)
    found = runs.map(({ id, runId }) => ({
      kind: 'bury',
      id,
      runId,
      reason: 'stuck',
      failure,
      retention: 'standard',
      drop: false,
    }))
  }
  const write = async () => {
    const { won } = await settle(play.session, null, found)
    play.saw({ kind: 'deadline' }, won.size > 0)
  }
  play.steps.push(play.sql('begin'), find, write, play.sql('commit'))
}

/** As the manager does it: waiting first, then running; each a statement of its own. */
const cancels: Part = (play) => {
  const { session, subject } = play
  let isDone = false
  for (let round = 0; round < 2; round++) {
    play.steps.push(
      async () => {
        if (isDone) return
        isDone = (await jobCancelWaiting(session, null, [subject.id], 'fault', [])).length > 0
        play.saw({ kind: 'cancel-waiting' }, isDone)
      },
      async () => {
        if (isDone) return
        isDone = (await jobCancelRunning(session, null, [subject.id], 'by an actor')).length > 0
        play.saw({ kind: 'cancel-running' }, isDone)
      },
    )
  }
}

const makesDue: Part = (play) => {
  play.steps.push(async () => {
    play.saw({ kind: 'run-now' }, (await jobRunNow(play.session, null, [play.subject.id])).length > 0)
  })
}

/** Another worker, which runs the job once it can have it. */
const claimsAndCompletes: Part = (play) => {
  const { session, subject } = play
  let isMine = false
  const claim = async () => {
    if (isMine) return
    const claimed = await jobClaim(session, null, {
      queues: [{ queue: QUEUE, limit: 1 }],
      types: [{ type: 'race', stuckAfterMs: 60_000 }],
      runId: subject.runs.second,
      workerId: subject.livingWorker,
      suspectQueues: [QUEUE],
      byType: false,
    })
    isMine = claimed.length > 0
    play.saw({ kind: 'claim' }, isMine)
  }
  const complete = async () => {
    if (isMine) await play.settling('finish', 'second')()
  }
  play.steps.push(claim, claim, claim, complete)
}

export const parts = {
  completes,
  fails,
  completesInTransaction,
  completesAndRollsBack,
  expiresLeases,
  rescues,
  buriesTheOverdue,
  cancels,
  makesDue,
  claimsAndCompletes,
} as const satisfies Record<string, Part>

export type PartName = keyof typeof parts

export function actorOf(name: PartName, session: StoreSession, subject: Subject): Actor {
  const play = new Play(name, session, subject)
  parts[name](play)
  return play
}
