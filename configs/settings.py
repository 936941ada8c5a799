"""ReFrame's configuration (by RFM_CONFIG_PATH): systems/*.yaml x presets.yaml."""

from membw.results.run_ledger import note_cases
from membw.site.binder import configuration

site_configuration = configuration()
note_cases()
