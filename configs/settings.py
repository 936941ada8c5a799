"""ReFrame's configuration (by RFM_CONFIG_PATH): systems/*.yaml x presets.yaml."""

from membw.site.binder import configuration

site_configuration = configuration()
