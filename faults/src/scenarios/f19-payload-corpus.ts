// F19: everything that people put into payloads, alone, in lists, in a transaction, in a group commit among neighbours,
// and as results. Each is refused with a type or arrives exactly; neighbours do not notice; nothing is stuck.
import { checkHistory, drain } from '../harness/checker.ts'
import { badItems, goodItems, itemOf, LARGE_RESULT, SECRET } from '../harness/corpus.ts'
import { type Producer, tasksOf } from '../harness/producer.ts'
import type { Answer } from '../harness/producer-main.ts'
import type { Task } from '../harness/tasks.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Findings, type Scale } from '../scenario.ts'

const rounds: Record<Scale, number> = { short: 1, standard: 5, full: 50 }
const NEIGHBOURS = 100
/** Passes every check of ours and meets a constraint in the database. */
const REFUSED_BY_POSTGRES = 'text that a constraint forbids'

export default defineScenario({
  name: 'f19-payload-corpus',
  title: 'payloads of every kind, one by one and among neighbours',
  mutations: {
    'nulls-stripped': 'items that arrived changed',
    'results-stripped': 'results that came back changed',
  },

  async body(options, findings) {
    await using world = await World.open(options)
    await world.db.query(
      `alter table millrace.job add constraint picky check (not payload @> '{"value": "${REFUSED_BY_POSTGRES}"}')`,
    )
    const producer = world.startProducer('producer')
    await world.startWorker({ label: 'worker', slots: 10 })
    const stage: Stage = { world, producer, findings }
    await alone(stage)
    await inLists(stage)
    await inTransaction(stage)
    for (let round = 0; round < rounds[options.scale]; round++) await amongNeighbours(stage, round)
    await asResults(stage)
    findings.check('drains', await drain(world, 60_000))
    await arrivals(stage)
    await secrets(stage)
    await checkHistory(world, findings, (n) => n.startsWith('result: '))
  },
})

interface Stage {
  world: World
  producer: Producer
  findings: Findings
}

const carrying = (prefix: string, names: readonly string[]): Task[] =>
  names.map((carries) => ({ n: `${prefix}: ${carries}`, does: 'carry', carries }))

const outcomeOf = (answer: Answer | undefined): string =>
  (answer?.status === 'failed' ? answer.code : answer?.status) ?? 'no answer'

/** Answers that are not what the corpus says of the item. */
function wrong(tasks: readonly Task[], answers: readonly Answer[]): string[] {
  return tasks.flatMap((task, i) => {
    const outcome = outcomeOf(answers[i])
    const expected = itemOf(task.carries as string).refused ?? 'queued'
    return outcome === expected ? [] : [`${task.carries} is ${outcome}, expected ${expected}`]
  })
}

const none = (findings: Findings, name: string, list: readonly string[]): void =>
  findings.check(name, list.length === 0, `${list.length}${list.length > 0 ? `: ${list.slice(0, 3).join('; ')}` : ''}`)

async function alone({ producer, findings }: Stage): Promise<void> {
  const found: string[] = []
  for (const task of carrying('alone', [...goodItems, ...badItems])) {
    found.push(...wrong([task], await producer.each([task])))
  }
  none(findings, 'alone: answers that are wrong', found)
}

/** All or nothing: a good list is written, and one bad item refuses the whole of its list. */
async function inLists({ world, producer, findings }: Stage): Promise<void> {
  const good = carrying('list', goodItems)
  none(findings, 'in a list: answers that are wrong', wrong(good, await producer.order({ how: 'many', tasks: good })))
  const found: string[] = []
  for (const name of badItems) {
    const tasks = tasksOf(`list with ${name}`, 4, () => ({ does: 'plain' }))
    tasks.splice(2, 0, ...carrying('bad in a list', [name]))
    const outcomes = new Set((await producer.order({ how: 'many', tasks })).map(outcomeOf))
    if ([...outcomes].join() !== itemOf(name).refused) found.push(`${name}: ${[...outcomes].join()}`)
  }
  none(findings, 'a bad item in a list: answers that are wrong', found)
  findings.equal(
    'a bad item in a list: jobs of that list that were written',
    await world.count(
      `select payload from millrace.job where payload->>'n' like 'list with%'
       union all select payload from millrace.job_archive where payload->>'n' like 'list with%'`,
    ),
    0,
  )
}

/** A refusal comes before anything is sent, so the transaction goes on and commits the others. */
async function inTransaction({ producer, findings }: Stage): Promise<void> {
  const tasks = carrying('in a transaction', [...goodItems, ...badItems].sort())
  const answers = await producer.order({ how: 'commit', tasks })
  none(findings, 'in a transaction: answers that are wrong', wrong(tasks, answers))
}

/** Group commit: all at once, with a row in the middle that only Postgres refuses. */
async function amongNeighbours({ producer, findings }: Stage, round: number): Promise<void> {
  const neighbours = tasksOf(`neighbour-${round}`, NEIGHBOURS, () => ({ does: 'plain' }))
  const bad = carrying(`group-${round}`, badItems)
  const refused: Task = { n: `refused-${round}`, does: 'plain', value: REFUSED_BY_POSTGRES }
  const middle = NEIGHBOURS / 2
  const answers = await producer.each([...neighbours.slice(0, middle), refused, ...neighbours.slice(middle), ...bad])
  const [own] = answers.splice(middle, 1)
  const part = findings.of(`group ${round}`)
  part.equal('the row that Postgres refuses: its caller is told', outcomeOf(own), 'invalid_payload')
  part.equal(
    'neighbours that were written',
    answers.slice(0, NEIGHBOURS).filter(({ status }) => status === 'queued').length,
    NEIGHBOURS,
  )
  none(part, 'bad items: answers that are wrong', wrong(bad, answers.slice(NEIGHBOURS)))
}

/** What may not be a payload may not be a result: a dead letter at once, whatever attempts are left. */
async function asResults({ world, producer, findings }: Stage): Promise<void> {
  const tasks = badItems.map((answers): Task => ({ n: `result: ${answers}`, does: 'answer', answers }))
  await producer.each(tasks)
  await drain(world, 60_000)
  const letters = await world.query<{ n: string }>(
    `select original_job->'payload'->>'n' as n from millrace.dead_letter_jobs
     where reason = 'unrecoverable' and attempts = 1 and error_details->>'class' = 'InvalidResult'`,
  )
  findings.equal('results that must not be stored: dead letters', letters.length, badItems.length)
}

async function arrivals({ world, findings }: Stage): Promise<void> {
  const arrived = world.history.runs('effect')
  none(
    findings,
    'items that arrived changed',
    arrived.filter(({ why }) => why !== 'exact').map(({ n }) => n),
  )
  findings.equal('items that arrived', arrived.length, goodItems.length * 3)
  const changed = await world.query<{ n: string }>(
    `select payload->>'n' as n from millrace.job_archive
     where payload->>'does' = 'carry' and status = 'completed'
       and length((payload->'value')::text) < $1 and result is distinct from payload->'value'`,
    [LARGE_RESULT],
  )
  none(
    findings,
    'results that came back changed',
    changed.map(({ n }) => n),
  )
}

async function secrets({ world, findings }: Stage): Promise<void> {
  findings.equal('files of the processes that show a secret', (await world.filesWith(SECRET)).join(), '')
  const [row] = await world.query<{ count: number }>(
    `select (select count(*) from millrace.job_archive as a where a::text like '%' || $1 || '%')::int
       + (select count(*) from millrace.job_attempt as a where a::text like '%' || $1 || '%')::int
       + (select count(*) from millrace.dead_letter_jobs as d where d::text like '%' || $1 || '%')::int as count`,
    [SECRET],
  )
  findings.equal('rows that show a secret', row?.count, 0)
}
