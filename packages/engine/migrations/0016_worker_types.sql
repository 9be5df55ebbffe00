-- Which job types a worker has handlers for, so that a job that nobody can run is not a riddle.
alter table millrace.worker add column types text[];
