// The same from a terminal.
import { basePath } from '../../data/base.ts'
import { useMay } from '../../data/session.tsx'
import { Card } from '../../ui/card.tsx'
import { CommandLine } from '../../ui/code-block.tsx'
import type { JobDetails } from './actions.tsx'

export function Equivalents({ job }: { job: JobDetails }) {
  const may = useMay()
  const url = `${window.location.origin}${basePath}/admin/api/jobs/${job.id}`
  const auth = '-H "Authorization: Bearer $MILLRACE_ADMIN_TOKEN"'
  const isOver = job.status === 'completed' || job.status === 'cancelled'
  return (
    <Card title="The same from a terminal">
      <CommandLine command={`millrace job ${job.id}`} />
      <CommandLine command={`curl ${auth} ${url}`} />
      {may('jobs.retry') && !isOver && (
        <>
          <CommandLine command={`millrace retry ${job.id}`} />
          <CommandLine command={`curl -X POST ${auth} -H "Content-Type: application/json" -d '{}' ${url}/retry`} />
        </>
      )}
    </Card>
  )
}
