export function SchedulesScreen() {
  return <h1 className="verdict">Schedules</h1>
}
