// Deaths by the hour over a week, with the versions that came.
import { useQuery } from '@tanstack/react-query'
import { useTenant } from '../../app/address.ts'
import { ask } from '../../data/queries.ts'
import { Card } from '../../ui/card.tsx'
import { AsTable, Chart } from '../../ui/chart/chart.tsx'
import type { Series } from '../../ui/chart/series.ts'
import { useNow } from '../../ui/text/clock.ts'
import { counted } from '../../ui/text/format.ts'
import { RelativeTime } from '../../ui/text/relative-time.tsx'
import type { Facts } from './groups.ts'

const HOUR_MS = 3_600_000

export function TrendCard({ facts }: { facts: Facts }) {
  const { fingerprint, type, byHour } = facts
  const tenant = useTenant()
  const { data } = useQuery(ask('deadLetters', 'groupVersions', { fingerprint, type, ...(tenant && { tenant }) }))
  const end = Math.ceil(useNow() / 60_000) * 60_000
  const at = byHour.map((_, index) => end - (byHour.length - index) * HOUR_MS)
  const series: Series[] = [{ key: 'deaths', label: 'deaths', colour: 'fail', values: byHour }]
  const total = byHour.reduce((sum, count) => sum + count, 0)
  const versions = data?.versions ?? []
  return (
    <Card title="Deaths by the hour" note={`${counted(total, 'death')} in seven days.`}>
      <Chart
        kind="bars"
        at={at}
        stepMs={HOUR_MS}
        series={series}
        height={120}
        label={`Deaths of ${type} by the hour over seven days: ${total}.`}
        marks={versions.map(({ version, startedAt }) => ({ at: +new Date(startedAt), label: `version ${version}` }))}
        none="None died in the last seven days."
      />
      <AsTable at={at} series={series} />
      {versions.length > 0 && (
        <p className="dim versions">
          {versions.map(({ version, letters, firstDiedAt, startedAt }, index) => (
            <span key={version}>
              {index > 0 && ' '}
              {counted(letters, 'letter')} died in version <b className="mono">{version}</b>, which is there since{' '}
              <RelativeTime at={startedAt} as="clock" />; the first <RelativeTime at={firstDiedAt} />.
            </span>
          ))}
        </p>
      )}
      {versions.length === 0 && data && (
        <p className="note versions">
          The workers in which they died are forgotten, so nothing is known of their versions.
        </p>
      )}
    </Card>
  )
}
