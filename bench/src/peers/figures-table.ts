// The figures of a run as Markdown, for the page that shows the picture.
import { OURS, RAW } from './contestants.ts'
import { type Figures, labelOf, type PeersReport, type RatioName } from './document.ts'
import { millis, rate, roundsOf } from './plot.ts'

export function figuresTable(report: PeersReport): string {
  const { ours, oursOnInstalledNode, peers, raw, contestants, environment, options, ratios, startedAt } = report
  const row = (name: string, figures: Partial<Figures>) => {
    const { drain, bulk, single16, latencyP50, latencyP99 } = figures
    const cells = [
      ...[drain, bulk, single16].map((value) => shown(value, rate)),
      ...[latencyP50, latencyP99].map((value) => shown(value, millis)),
    ]
    const version = name === RAW ? '' : contestants[name]?.version
    return `| ${[name, version, ...cells].join(' | ')} |`
  }
  const stores = [`PostgreSQL ${environment.postgres}`, ...(environment.redis ? [`Redis ${environment.redis}`] : [])]
  return [
    `${startedAt.slice(0, 10)}, ${environment.cpus} × ${environment.cpu}, ${environment.memoryGb} GB, ${stores.join(', ')}; ${roundsOf(options)}, backlogs of up to ${rate(options.jobs)} jobs. Node ${report.node}, except where another one is named.`,
    '',
    '| | version | drain, jobs/s | 1,000 at a time, jobs/s | one by one, 16 callers, jobs/s | latency p50, ms | p99, ms |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: |',
    row(OURS, ours),
    row(`${OURS}, Node ${oursOnInstalledNode.node}`, oursOnInstalledNode),
    ...Object.entries(peers).map(([name, figures]) => row(name, figures)),
    row(RAW, raw),
    '',
    '| ratio, round by round | median |',
    '| --- | ---: |',
    ...(Object.entries(ratios) as [RatioName, number][]).map(
      ([name, value]) => `| ${labelOf(name)} | ${value.toFixed(2)} |`,
    ),
    ...report.skipped.map(({ name, reason }) => `\n**Skipped**: ${name}, because ${reason}.`),
  ].join('\n')
}

const shown = (value: number | undefined, format: (value: number) => string): string =>
  value === undefined ? '–' : format(value)
