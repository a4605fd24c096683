package grains

// osNames maps the first ten characters of a distribution's full name, without
// blanks and in lower case, to Salt's os grain; "" where the name itself is it.
//
// Salt: salt/grains/core.py _OS_NAME_MAP.
func osNames(short string) string {
	switch short {
	case "redhatente":
		return "RedHat"
	case "gentoobase":
		return "Gentoo"
	case "archarm":
		return "Arch ARM"
	case "arch":
		return "Arch"
	case "debian":
		return "Debian"
	case "raspbian":
		return "Raspbian"
	case "fedoraremi", "pidora":
		return "Fedora"
	case "chapeau":
		return "Chapeau"
	case "korora":
		return "Korora"
	case "amazonami":
		return "Amazon"
	case "alt":
		return "ALT"
	case "enterprise", "oracleserv":
		return "OEL"
	case "cloudserve", "cloudlinux":
		return "CloudLinux"
	case "almalinux":
		return "AlmaLinux"
	case "scientific":
		return "ScientificLinux"
	case "synology":
		return "Synology"
	case "nilrt":
		return "NILinuxRT"
	case "poky":
		return "Poky"
	case "manjaro", "manjarolin":
		return "Manjaro"
	case "univention":
		return "Univention"
	case "antergos":
		return "Antergos"
	case "sles":
		return "SUSE"
	case "void":
		return "Void"
	case "slesexpand":
		return "RES"
	case "linuxmint":
		return "Mint"
	case "neon":
		return "KDE neon"
	case "pop":
		return "Pop"
	case "rocky":
		return "Rocky"
	case "alibabaclo":
		return "Alinux"
	case "mendel":
		return "Mendel"
	}
	return ""
}

// osFamily maps the os grain to os_family; an os that has no other family is
// its own.
//
// Salt: salt/grains/core.py _OS_FAMILY_MAP.
func osFamily(os string) string {
	switch os {
	case "Ubuntu", "Mint", "Trisquel", "GCEL", "Linaro", "elementary OS", "elementary", "Univention", "Raspbian", "Devuan", "antiX",
		"Kali", "Parrot OS", "neon", "Cumulus", "Deepin", "KDE neon", "IDMS", "TurnKey", "Pop", "AstraLinuxCE", "AstraLinuxSE",
		"Mendel", "OSMC":
		return "Debian"
	case "Fedora", "Chapeau", "Korora", "FedBerry", "CentOS", "CentOS Stream", "GoOSe", "Scientific", "Amazon", "CloudLinux",
		"AlmaLinux", "OVS", "OEL", "XCP", "XCP-ng", "XenServer", "RES", "Sangoma", "VMware Photon OS", "ALT", "ScientificLinux",
		"Rocky", "Alinux":
		return "RedHat"
	case "Mandrake":
		return "Mandriva"
	case "VMwareESX":
		return "VMware"
	case "Bluewhite64":
		return "Bluewhite"
	case "Slamd64":
		return "Slackware"
	case "SLES", "SUSE Enterprise Server", "SUSE  Enterprise Server", "SLED", "openSUSE", "SUSE", "openSUSE Leap",
		"openSUSE Tumbleweed", "SLES_SAP":
		return "Suse"
	case "Arch ARM", "Manjaro", "Manjaro ARM", "Antergos", "EndeavourOS":
		return "Arch"
	case "Funtoo":
		return "Gentoo"
	}
	return os
}
