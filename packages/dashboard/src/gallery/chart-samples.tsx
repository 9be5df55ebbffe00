import { Card } from '../ui/card.tsx'
import { AsTable, Chart, Legend } from '../ui/chart/chart.tsx'
import { Meter, Slots } from '../ui/chart/meter.tsx'
import { niceDurationTop } from '../ui/chart/scale.ts'
import type { Series } from '../ui/chart/series.ts'
import { Sparkline } from '../ui/chart/sparkline.tsx'
import { formatDuration } from '../ui/text/format.ts'

const STEP = 2 * 60_000
const START = Math.floor(Date.now() / STEP) * STEP - 90 * STEP
const AT = Array.from({ length: 90 }, (_, index) => START + index * STEP)
const wave = (most: number, by: number) => AT.map((_, index) => Math.round(most * (1 + by * Math.sin(index / 11))))

const OUTCOMES: Series[] = [
  { key: 'completed', label: 'completed', colour: 'ok', values: wave(900, 0.3) },
  { key: 'failed', label: 'retried', colour: 'late', values: AT.map((_, index) => (index > 82 ? 210 : 40)) },
  { key: 'dead', label: 'dead', colour: 'fail', values: AT.map((_, index) => (index % 17 === 0 ? 20 : 0)) },
]
const WAITS: Series[] = [
  { key: 'p50', label: 'p50', colour: 'accent', values: wave(30_000, 0.2) },
  { key: 'p95', label: 'p95', colour: 'blue', values: wave(60_000, 0.3), isArea: true },
  {
    key: 'oldest',
    label: 'oldest',
    colour: 'ink',
    isDashed: true,
    values: AT.map((_, i) => (i < 8 ? null : 90_000 + i * 3_000)),
  },
]

export const ChartSamples = () => (
  <>
    <div className="grid2">
      <Card title="Throughput by outcome" note="Jobs a minute." aside={<Legend series={OUTCOMES} />}>
        <Chart
          kind="bars"
          at={AT}
          stepMs={STEP}
          series={OUTCOMES}
          label="Jobs a minute over three hours."
          marks={[{ at: START + 60 * STEP, label: 'deploy 13:20' }]}
        />
        <AsTable at={AT} series={OUTCOMES} />
      </Card>
      <Card title="Wait before start" note="The oldest job stays visible." aside={<Legend series={WAITS} />}>
        <Chart
          kind="lines"
          at={AT}
          stepMs={STEP}
          series={WAITS}
          format={formatDuration}
          topOf={niceDurationTop}
          level={{ value: 300_000, label: 'SLA 5 min' }}
          label="Wait over three hours."
        />
      </Card>
    </div>
    <Card title="Small figures">
      <div className="grid2 even c-salmon">
        <Sparkline values={wave(40, 0.5)} label="Waiting jobs" />
        <Sparkline values={AT.map((_, index) => (index > 70 ? index : 0))} kind="bars" tone="fail" label="Deaths" />
        <Slots used={14} of={20} label="14 of 20 slots" />
        <Meter share={0.61} held={0.2} mark={0.5} label="Share" />
      </div>
    </Card>
  </>
)
