// F23: many small workflows in several processes, which end their jobs at the same moments, are killed and frozen at
// random, lose the replies to their settlements, die between the end of a job and what follows, and are frozen for good
// while they write that end. Steps fail and are undone, and some workflows are cancelled meanwhile. Every workflow ends
// as its jobs did, each part has had one job.
import { setTimeout as sleep } from 'node:timers/promises'
import { createMillrace, type Millrace } from 'millrace'
import type { Child } from '../harness/child.ts'
import { wrongEnds, wrongOrder } from '../harness/flow-model.ts'
import { type FlowName, flows, mayFail, part } from '../harness/flows.ts'
import { doubledParts, foundFlows, leftOpen } from '../harness/found-flows.ts'
import { textsUnder } from '../harness/mutations.ts'
import { type Dice, diceFrom } from '../harness/random.ts'
import { eventually } from '../harness/until.ts'
import { LEASE, World } from '../harness/world.ts'
import { defineScenario, type Scale } from '../scenario.ts'

const sizes: Record<Scale, { workflows: number; blows: number }> = {
  short: { workflows: 50, blows: 3 },
  standard: { workflows: 500, blows: 20 },
  full: { workflows: 3_000, blows: 100 },
}
const VICTIMS = 2
const SLOTS = 12
const LONGEST_MS = 150
const PAUSE_MS = 700
/** So many start at once. */
const WAVE = 5
const CANCELLED_SHARE = 0.15
const FAILING_SHARE = 0.4
/** The jobs of the others end alone, and what follows is written with their end. */
const TOGETHER_SHARE = 0.75
/** Several times what a rescue takes. */
const STALL_MS = 4_000
/** So many more start, one after another, while something is left standing. */
const LATECOMERS = 2
const entry = './flow-main.js'
const STANDING = `
  select count(*) filter (where finished_at is null)::int as open, max(updated_at)::text as moved,
    (select count(*)::int from millrace.workflow_item where status = 'running') as running,
    (select count(*)::int from millrace.job) as jobs
  from millrace.workflow`

export default defineScenario({
  name: 'f23-workflow-races',
  title: 'fan-ins that race, steps that fail and are undone, cancelled workflows, under killed and frozen workers',
  mutations: {
    'items-counted-singly': 'workflows that have not ended',
    'advance-without-lock': 'parts with more than one job',
    'workflows-not-swept': 'workflows that have not ended',
    'completions-forgotten': 'steps undone out of order',
    'step-locks-kept': 'workflows that have not ended',
  },

  async body(options, findings) {
    const { workflows, blows } = sizes[options.scale]
    const dice = diceFrom(options.seed)
    await using world = await World.open(options)
    await using millrace = createMillrace({ database: world.url, jobs: [part], workflows: Object.values(flows) })
    const storm = new Storm(world, millrace, dice)
    findings.check('somebody died between the end of a job and what follows', (await storm.dieBeforeAdvance()) > 0)
    await storm.startWorkers()
    const started = storm.startFlows(workflows)
    for (let blow = 0; blow < blows; blow++) {
      await storm.strike()
      options.note(`${blow + 1} of ${blows} blows`)
    }
    await started
    await storm.allEnded()
    findings.check('somebody was frozen while it wrote the end of jobs', storm.hasFrozen)

    const found = await foundFlows(world, storm.cancelled)
    const open = await world.query(`select from millrace.workflow where finished_at is null`)
    findings.equal('workflows that have not ended', open.length, 0)
    findings.equal('parts with more than one job', await doubledParts(world), 0)
    findings.equal('steps, items and workflows that somebody would have to look after', await leftOpen(world), 0)
    const wrong = found.flatMap(wrongEnds)
    findings.check('every workflow ended as its jobs did', wrong.length === 0, wrong.slice(0, 5).join('; '))
    const order = found.flatMap(wrongOrder)
    findings.check('steps undone out of order', order.length === 0, order.slice(0, 5).join('; '))
    const endedAs = (status: string) => found.filter((flow) => flow.status === status).length
    for (const status of ['completed', 'rolled back'])
      findings.check(`some workflows are ${status}`, endedAs(status) > 0, endedAs(status))
    findings.check('the storm hit running jobs', world.history.events('job_rescued').length > 0)
    findings.figures({
      workflows: found.length,
      completed: endedAs('completed'),
      failed: endedAs('failed'),
      cancelled: endedAs('cancelled'),
      'rolled back': endedAs('rolled back'),
      'rollback failed': endedAs('rollback failed'),
      'replies lost': storm.repliesLost,
      rescued: world.history.events('job_rescued').length,
    })
  },
})

class Storm {
  /** Ids of workflows whose cancellation was confirmed. */
  readonly cancelled = new Set<string>()
  repliesLost = 0
  hasFrozen = false
  readonly #world: World
  readonly #millrace: Millrace
  readonly #dice: Dice
  readonly #victims: Child[] = []
  #flows = 0

  constructor(world: World, millrace: Millrace, dice: Dice) {
    this.#world = world
    this.#millrace = millrace
    this.#dice = dice
  }

  /** One worker, killed when it begins to carry a workflow on: the end of the jobs is committed. How many workflows wait. */
  async dieBeforeAdvance(): Promise<number> {
    const proxy = await this.#world.proxy()
    const { workflowLock } = textsUnder(this.#world.mutation)
    const victim = await this.#world.startWorker({ label: 'first', entry, slots: SLOTS, proxy })
    proxy.rule = {
      when: 'before',
      matches: ({ sql }) => {
        if (sql !== workflowLock) return false
        victim.signal('SIGKILL')
        return true
      },
    }
    await Promise.all(Array.from({ length: WAVE }, () => this.#start('diamond', true)))
    await victim.exited
    return this.#world.count('select from millrace.workflow_step where needs_advance')
  }

  async startWorkers(): Promise<void> {
    const labels = Array.from({ length: VICTIMS }, (_, i) => `victim-${i}`)
    const [, , ...victims] = await Promise.all([
      this.#startSpared(),
      this.#startFrozen(),
      ...labels.map((label) => this.#world.startWorker({ label, entry, slots: SLOTS })),
    ])
    this.#victims.push(...victims)
  }

  /** Somebody always holds a lease long enough to rescue; it loses replies instead. */
  async #startSpared(): Promise<void> {
    const proxy = await this.#world.proxy()
    const { workflowSettle } = textsUnder(this.#world.mutation)
    let settlements = 0
    proxy.rule = {
      when: 'after',
      matches: ({ sql, transaction }) => {
        if (sql !== 'commit' || !transaction.includes(workflowSettle) || ++settlements % 5 > 0) return false
        this.repliesLost++
        return true
      },
    }
    await this.#world.startWorker({ label: 'spared', entry, slots: SLOTS, proxy })
  }

  /**
   * It is frozen for good when it has counted jobs off their steps, and the commit has not arrived. Not while it has other
   * transactions open: what those have locked is given free later.
   */
  async #startFrozen(): Promise<void> {
    const proxy = await this.#world.proxy()
    const { workflowSettle } = textsUnder(this.#world.mutation)
    let open = 0
    let victim: Child | undefined
    proxy.rule = {
      when: 'stall',
      matches: ({ sql, transaction }) => {
        if (sql.startsWith('begin')) open++
        const isAlone = open === 1
        if (sql === 'commit' || sql === 'rollback') open--
        if (sql !== 'commit' || !isAlone || !transaction.includes(workflowSettle) || this.hasFrozen) return false
        victim?.signal('SIGSTOP')
        this.hasFrozen = true
        return true
      },
    }
    victim = await this.#world.startWorker({ label: 'frozen', entry, slots: SLOTS, proxy })
  }

  /** Kills or freezes one of the victims; what follows in the workflows it leaves behind is found by the next to start. */
  async strike(): Promise<void> {
    await sleep(this.#dice.between(PAUSE_MS / 2, PAUSE_MS * 1.5))
    const i = this.#dice.between(0, VICTIMS - 1)
    const victim = this.#victims[i] as Child
    if (this.#dice.next() < 0.3) {
      victim.signal('SIGSTOP')
      await sleep(LEASE.ttl * 1.5)
      victim.signal('SIGCONT')
    } else {
      await victim.kill()
      this.#victims[i] = await this.#world.startWorker({ label: victim.label, entry, slots: SLOTS })
    }
  }

  async startFlows(count: number): Promise<void> {
    const cancels: Promise<void>[] = []
    for (let from = 0; from < count; from += WAVE) {
      const wave = Array.from({ length: Math.min(WAVE, count - from) }, () =>
        this.#start(this.#dice.pick(Object.keys(flows) as FlowName[]), this.#dice.next() < TOGETHER_SHARE),
      )
      for (const id of await Promise.all(wave)) {
        if (this.#dice.next() < CANCELLED_SHARE) cancels.push(this.#cancel(id, this.#dice.between(0, 400)))
      }
      await sleep(this.#dice.between(50, 250))
    }
    await Promise.all(cancels)
  }

  async #start(name: FlowName, isTogether: boolean): Promise<string> {
    const isFailing = this.#dice.next() < FAILING_SHARE
    const input = {
      n: `${name}-${++this.#flows}`,
      fails: isFailing ? [this.#dice.pick(mayFail[name])] : [],
      ms: this.#dice.between(0, LONGEST_MS),
      isTogether,
    }
    const { id } = await this.#millrace.workflows.start(flows[name], input)
    return id
  }

  async #cancel(id: string, afterMs: number): Promise<void> {
    await sleep(afterMs)
    const { status } = await this.#millrace.workflows.cancel(id, { by: 'storm' })
    if (status === 'done') this.cancelled.add(id)
  }

  /**
   * Until all have ended, or nothing moves any more. Whoever was frozen for good, or gave up a settlement without knowing that
   * it was written, leaves workflows to the sweep: that of the next to start, as nobody waits for the minute of the others.
   */
  async allEnded(): Promise<void> {
    for (let late = 0; !(await this.#endedOrStalled()) && late < LATECOMERS; late++)
      await this.#world.startWorker({ label: `late-${late}`, entry, slots: SLOTS })
  }

  async #endedOrStalled(): Promise<boolean> {
    let last = ''
    let movedAt = performance.now()
    const outcome = await eventually(120_000, async () => {
      const [row] = await this.#world.query(STANDING)
      if (row?.open === 0 && row?.jobs === 0) return 'ended'
      const state = JSON.stringify(row)
      if (state !== last) movedAt = performance.now()
      last = state
      return performance.now() - movedAt > STALL_MS && 'stalled'
    })
    return outcome === 'ended'
  }
}
