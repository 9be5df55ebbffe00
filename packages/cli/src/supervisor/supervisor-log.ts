import type { Logger } from 'millrace'
import { causeOf, type Supervisor, type SupervisorEvents } from './supervisor.ts'

/** Writes every event of a supervisor into the log, with its facts as fields. */
export function logSupervisor(supervisor: Supervisor, logger: Logger): void {
  supervisor.on('process_started', (facts) => logger.debug(line('process_started', facts), 'process started'))
  supervisor.on('process_ready', (facts) => logger.info(line('process_ready', facts), 'process ready'))
  supervisor.on('process_died', (facts) => {
    const after = facts.restartInMs === null ? '' : `; it is started again in ${facts.restartInMs} ms`
    logger.error(line('process_died', facts), `process died: ${causeOf(facts)}${after}`)
  })
  supervisor.on('process_stopped', (facts) => {
    if (facts.code === 0) logger.info(line('process_stopped', facts), 'process stopped')
    else logger.warn(line('process_stopped', facts), `process stopped, but not in order: ${causeOf(facts)}`)
  })
  supervisor.on('rolling_restart_started', (facts) =>
    logger.info({ event: 'rolling_restart_started', ...facts }, 'rolling restart started'),
  )
  supervisor.on('rolling_restart_ended', (facts) => {
    const fields = { event: 'rolling_restart_ended', ...facts }
    if (facts.isComplete) logger.info(fields, 'rolling restart done')
    else logger.error(fields, 'rolling restart broken off: the processes that were not replaced go on')
  })
}

/** `pid` on a line is that of whoever writes it. */
function line(event: keyof SupervisorEvents, { pid, ...facts }: { pid: number | null }): Record<string, unknown> {
  return { event, processPid: pid, ...facts }
}
