// What being a step of a workflow costs: beside a plain job of the same handler, link by link in a chain, and whether
// it costs more the more steps there are.
import { createMillrace, type WorkflowDefinition } from 'millrace'
import { atMost } from '../report.ts'
import { type Contestant, interleave, named, ratio } from '../rounds.ts'
import { timed } from '../spaced-jobs.ts'
import type { Suite } from '../suite.ts'
import { chainLink, fan, loneJob, plainJobs } from '../workflow/contestants.ts'
import { chainOf, fanOut, last, trivial, wideOf } from '../workflow/flows.ts'

const CHAIN = 100
/** Per step: of a plain job, and of a workflow with a tenth of the steps or less. */
const STEP_COST = 2
const GROWTH = 1.5
/** As many commits, and one way more to the server. */
const LINK_COST = 1.5

export const workflow: Suite = {
  name: 'workflow',
  summary: 'steps of workflows, against plain jobs: side by side, in a chain, and in growing numbers',
  jobs: 10_000,
  rounds: 3,

  async run(bench) {
    const { options, progress, step } = bench
    const part = (divisor: number): number => Math.ceil(options.jobs / divisor)
    const links = Math.min(CHAIN, options.jobs)
    const [chain, longChain] = [links, 10 * links].map(chainOf) as [WorkflowDefinition, WorkflowDefinition]
    const declared = [part(100), part(10)].map((steps) => ({ steps, flow: wideOf(steps) }))
    const workflows = [fanOut, chain, longChain, ...declared.map(({ flow }) => flow)]
    await using millrace = createMillrace({ database: bench.databaseUrl, jobs: [trivial, last, timed], workflows })

    const plain = plainJobs(bench, millrace)
    const fans = [part(10), options.jobs, 3 * options.jobs].map((n) =>
      fan(bench, millrace, { name: `fan-out of ${n.toLocaleString('en')}`, steps: n, flow: fanOut, input: { n } }),
    )
    const wides = declared.map((each) =>
      fan(bench, millrace, { name: `${each.steps.toLocaleString('en')} declared steps`, ...each }),
    )
    const lone = loneJob(bench, millrace, links)
    const [link, longLink] = [chain, longChain].map((each) => chainLink(bench, millrace, each)) as [
      Contestant,
      Contestant,
    ]
    const contestants = [plain, ...fans, ...wides, lone, link, longLink]
    const measurements = await interleave(contestants, { ...options, progress, step })
    const against = (one: Contestant, other: Contestant, target: number) => {
      const [a, b] = [named(measurements, one.name), named(measurements, other.name)]
      return ratio(`${one.name} / ${other.name}`, a, b, atMost(target))
    }
    const [small, middle, large] = fans as [Contestant, Contestant, Contestant]
    const [few, many] = wides as [Contestant, Contestant]
    return {
      measurements,
      ratios: [
        against(middle, plain, STEP_COST),
        against(link, lone, LINK_COST),
        against(longLink, link, GROWTH),
        against(large, small, GROWTH),
        against(many, few, GROWTH),
      ],
    }
  },
}
